"""Identifiers: in monospace, the middle gives way, the last six characters always stay."""

from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.hostile import visible, visible_plain
from console.markup.icons import icon
from console.quantities import NOTHING

_TAIL: Final = 6
# What is no longer than this stands whole: there is no middle to give way.
_NEVER_CUT: Final = 12

# No provider mints ids of this length. Such a "name" is cut, and nobody is offered to copy it.
_LONGEST: Final = 400
_SHOWN_OF_TOO_LONG: Final = 200


def ident(value: object, href: str = "", full: bool = False, copy: bool = True) -> SafeString:
    """{% ident value [href=url] [full=True] [copy=False] %}

    `full` is for digests and keys that prove something. Without a value there is an en dash.
    """
    text = "" if value is None else str(value)
    if not text:
        return format_html('<span class="muted">{}</span>', NOTHING)
    is_too_long = len(text) > _LONGEST
    label = visible_plain(_shortened(text) if is_too_long else text)
    body = _body(text, is_too_long=is_too_long)
    if href:
        body = format_html('<a href="{}">{}</a>', href, body)
    button = _copy_button(text, label) if copy and not is_too_long else ""
    classes = "ident is-full" if full else "ident"
    return format_html('<span class="{}" title="{}">{}{}</span>', classes, label, body, button)


def _shortened(text: str) -> str:
    return f"{text[:_SHOWN_OF_TOO_LONG]}… ({len(text):,} characters)"


def _body(text: str, *, is_too_long: bool) -> SafeString:
    if is_too_long:
        head, tail = f"{text[:_SHOWN_OF_TOO_LONG]}…", text[-_TAIL:]
    elif len(text) <= _NEVER_CUT:
        head, tail = "", text
    else:
        head, tail = text[:-_TAIL], text[-_TAIL:]
    head_html = format_html('<span class="ident-head">{}</span>', visible(head)) if head else ""
    return format_html(
        '<bdi class="ident-text">{}<span class="ident-tail">{}</span></bdi>', head_html, visible(tail)
    )


def _copy_button(text: str, label: str) -> SafeString:
    """The script copies the text beside the button; where that text has boxes, the id as it is."""
    exact = format_html(' data-copy="{}"', text) if _is_boxed(text, label) else ""
    return format_html(
        '<button type="button" class="copy" aria-label="Copy {}"{}>{}</button>', label, exact, icon("copy")
    )


def _is_boxed(text: str, label: str) -> bool:
    # Half a surrogate pair cannot be sent, so such an id is copied as it is shown.
    return text != label and not any("\ud800" <= character <= "\udfff" for character in text)
