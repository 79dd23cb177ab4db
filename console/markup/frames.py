"""Parts with a body: notices, facts, folded calls, boxes that scroll."""

from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.hostile import visible
from console.markup.icons import icon, sprite
from console.markup.standing import state as state_tag
from console.markup.texts import peek as peek_of
from console.markup.times import duration

_NOTICES: Final = {
    "info": "i-info",
    "ok": "s-applied",
    "warn": "i-warn",
    "error": "i-error",
    "quiet": "i-info",
}


def notice(content: SafeString, kind: str = "info") -> SafeString:
    """{% notice ["info"|"ok"|"warn"|"error"|"quiet"] %}a sentence, and the next step{% endnotice %}"""
    if kind not in _NOTICES:
        raise ValueError(f"{kind!r} is no kind of notice: {', '.join(_NOTICES)}")
    tone = "" if kind == "info" else f" is-{kind}"
    return format_html('<div class="note{}">{}<div>{}</div></div>', tone, sprite(_NOTICES[kind]), content)


def facts(content: SafeString, layout: str = "row") -> SafeString:
    """{% facts ["row"|"list"] %}{% fact … %}…{% endfacts %}"""
    return format_html('<dl class="{}">{}</dl>', "facts is-list" if layout == "list" else "facts", content)


def fact(content: SafeString, name: str) -> SafeString:
    """{% fact "Account" %}…{% endfact %}"""
    return format_html("<div><dt>{}</dt><dd>{}</dd></div>", name, content)


def details(
    content: SafeString,
    name: str,
    peek: str = "",
    took: int | None = None,
    state: str = "",
    word: str = "",
    is_open: bool = False,
) -> SafeString:
    """{% details name [peek=…] [took=milliseconds] [state=code [word=…]] [is_open=True] %}…{% enddetails %}

    A tool call, thinking, an unknown block: one line, and what it holds when opened.
    """
    line = format_html('<span class="block-peek">{}</span>', peek_of(peek)) if peek else ""
    end = format_html("{}{}", "" if took is None else duration(took), state_tag(state, word) if state else "")
    return format_html(
        '<details class="block"{}><summary><span class="block-name">{}</span>{}{}</summary>'
        '<div class="block-in">{}</div></details>',
        " open" if is_open else "",
        visible(name),
        line,
        format_html('<span class="block-end">{}</span>', end) if end else "",
        content,
    )


def scroll(content: SafeString, label: str) -> SafeString:
    """{% scroll "Findings" %}a wide table{% endscroll %}: a box that scrolls and takes focus."""
    return format_html(
        '<div class="scroll" tabindex="0" role="group" aria-label="{}">{}</div>', label, content
    )


def tool(label: str, href: str, sign: str = "") -> SafeString:
    """{% tool "Compare" url [sign="compare"] %}: one of a page's tools, inside ul.object-tools."""
    return format_html('<li><a href="{}">{}{}</a></li>', href, icon(sign) if sign else "", label)


def csv_link(href: str, rows: int | None = None) -> SafeString:
    """{% csv_link url [rows=n] %}: "CSV, 12,405 rows", or "CSV of this list" where counting would cost."""
    counted = "1 row" if rows == 1 else f"{rows:,} rows" if rows is not None else ""
    words = f"CSV, {counted}" if counted else "CSV of this list"
    return format_html('<a class="download" href="{}">{}{}</a>', href, icon("download"), words)


def siblings(at: int, count: int, previous: str = "", following: str = "") -> SafeString:
    """{% siblings at count [previous=url] [following=url] %}: ‹2/3› at a fork; an end has no link."""
    return format_html(
        '<span class="siblings" role="group" aria-label="Versions of this message">{}'
        '<span class="siblings-at">{}/{}</span>{}</span>',
        _version(previous, rel="prev", label=f"Version {at - 1} of {count}", sign="left"),
        at,
        count,
        _version(following, rel="next", label=f"Version {at + 1} of {count}", sign="right"),
    )


def _version(href: str, *, rel: str, label: str, sign: str) -> SafeString:
    if not href:
        return format_html('<span aria-disabled="true">{}</span>', icon(sign))
    return format_html('<a href="{}" rel="{}" aria-label="{}">{}</a>', href, rel, label, icon(sign))
