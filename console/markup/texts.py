"""What people, models and tools said: wraps anywhere, and folds past the first screenful."""

from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.hostile import text_of, visible

# Longer texts are folded: one message must not push the conversation out of sight.
FOLDED_PAST: Final = 4_000

# The style sheet keeps newlines, so what is past these reads the same as one paragraph.
_MOST_PARAGRAPHS: Final = 200

# What a summary line can show; the rest is cut by the style sheet in any case.
_PEEK: Final = 240


def hostile(value: object) -> SafeString:
    """{{ title|hostile }}: anything from outside within a line of ours, whose order it cannot change."""
    return format_html("<bdi>{}</bdi>", visible(value))


def said(text: str, more_url: str = "") -> SafeString:
    """{% said text [more_url=url] %}: a message's text in paragraphs.

    With `more_url` the rest of a long text is a link there; without, it is in the page, folded.
    """
    if not text.strip():
        return format_html('<div class="said"><p class="muted">{}</p></div>', _emptiness(text))
    shown, rest = _cut(text)
    more = _rest(_paragraphs(rest), characters=len(rest), more_url=more_url) if rest else ""
    return format_html('<div class="said">{}{}</div>', _paragraphs(shown), more)


def raw(payload: str | bytes | memoryview, error: bool = False, more_url: str = "") -> SafeString:
    """{% raw payload [error=True] [more_url=url] %}: arguments, results and bodies, as received."""
    text = payload if isinstance(payload, str) else text_of(bytes(payload))
    if not text:
        return format_html('<p class="muted">{}</p>', _emptiness(text))
    shown, rest = _cut(text)
    more = _rest(_preformatted(rest, error), characters=len(rest), more_url=more_url) if rest else ""
    return format_html("{}{}", _preformatted(shown, error), more)


def peek(text: str) -> SafeString:
    """Return the beginning of a text for one line."""
    line = " ".join(text[: _PEEK * 4].split())
    return visible(line if len(line) <= _PEEK else f"{line[:_PEEK]}…")


def withheld(what: str, count: int, unit: str = "characters") -> SafeString:
    """{% withheld "Text" 203 %}: in place of what a reason has to be stated for."""
    return format_html('<span class="withheld">{} withheld, {} {}</span>', what, f"{count:,}", unit)


def _cut(text: str) -> tuple[str, str]:
    return text[:FOLDED_PAST], text[FOLDED_PAST:]


def _rest(body: SafeString, *, characters: int, more_url: str) -> SafeString:
    count = f"{characters:,}"
    if more_url:
        return format_html('<p><a href="{}">Show the other {} characters</a></p>', more_url, count)
    return format_html(
        '<details class="fold"><summary>The other {} characters</summary>{}</details>', count, body
    )


def _paragraphs(text: str) -> SafeString:
    pieces = (piece.strip("\n") for piece in text.replace("\r\n", "\n").split("\n\n", _MOST_PARAGRAPHS))
    return format_html_join("", '<p dir="auto">{}</p>', ((visible(piece),) for piece in pieces if piece))


def _preformatted(text: str, error: bool) -> SafeString:
    classes = "raw is-error-text" if error else "raw"
    # A browser drops the first newline of a <pre>; a second one keeps the text's own.
    first = "\n" if text.startswith(("\n", "\r\n")) else ""
    return format_html('<pre class="{}" tabindex="0">{}{}</pre>', classes, first, visible(text))


def _emptiness(text: str) -> str:
    return f"Blank text, {len(text):,} characters" if text else "Empty text"
