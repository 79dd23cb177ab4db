"""Text from customers, models and tools, made safe to look at.

Everything is escaped. On top of that, a character that has no ink of its own (a control, a bidi
override, a zero-width space, half of a surrogate pair) is replaced by a box that names it: such
characters hide words, reverse them or imitate another id. The stored text is never touched.

Two things that have no ink keep their work: joiners between letters or emoji that need them, and
one variation selector after a character. Everywhere else they are shown like the rest.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

_MOST_BOXES: Final = 500

_JOINERS: Final = "\u200c\u200d"
_VARIATION_SELECTORS: Final = "\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Without ink: C0 and C1 controls but for tab and newline, every format character of Unicode, line and
# paragraph separators, fillers that count as letters, surrogates, non-characters, tag characters.
_INKLESS: Final = re.compile(
    "(["
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
    "])\\1*"
)
_DOS_NEWLINE: Final = re.compile("\r\n")
_VARIATION_SELECTOR: Final = re.compile(f"[{_VARIATION_SELECTORS}]")

# fmt: off
_CONTROL_NAMES: Final = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "TAB", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)
# fmt: on

# A byte that is no UTF-8 is decoded to one of these by errors="surrogateescape".
_ESCAPED_BYTES: Final = range(0xDC80, 0xDD00)


class Mark(NamedTuple):
    """A run of one character without ink: what stands in the box, and its name in words."""

    label: str
    name: str


def visible(value: object) -> SafeString:
    """Return `value` escaped, with a box in place of each character that has no ink.

    A text made of nothing else would fill a page with boxes, so past the first few hundred their
    names stand in brackets.
    """
    text = str(value)
    if _INKLESS.search(text) is None:
        # Nearly every text, and a page has hundreds.
        return escape(text)
    return format_html_join("", "{}", ((piece,) for piece in _boxed(pieces_of(text))))


def _boxed(pieces: Iterator[str | Mark]) -> Iterator[str]:
    boxes = 0
    for piece in pieces:
        if isinstance(piece, Mark):
            boxes += 1
            yield _box(piece)
            if boxes == _MOST_BOXES:
                break
        else:
            yield piece
    yield _in_brackets(pieces)


@lru_cache(maxsize=512)
def _box(mark: Mark) -> SafeString:
    return format_html('<span class="hidden-mark" title="{}">{}</span>', mark.name, mark.label)


def visible_plain(value: object) -> str:
    """Return `value` with "[U+202E]" in place of such characters, for attributes and titles.

    It is plain text: the template still escapes it.
    """
    return _in_brackets(pieces_of(str(value)))


def _in_brackets(pieces: Iterator[str | Mark]) -> str:
    return "".join(f"[{piece.label}]" if isinstance(piece, Mark) else piece for piece in pieces)


def text_of(payload: bytes) -> str:
    """Return bytes as text; a byte that is no UTF-8 becomes a character that `visible` names."""
    return payload.decode("utf-8", errors="surrogateescape")


def pieces_of(text: str) -> Iterator[str | Mark]:
    """Cut `text` into what can be shown as it is and marks; equal neighbours make one mark."""
    text = _DOS_NEWLINE.sub("\n", text)
    shown = 0
    for match in _INKLESS.finditer(text):
        if _does_its_work(text, match):
            continue
        if match.start() > shown:
            yield text[shown : match.start()]
        yield _mark(match[1], times=match.end() - match.start())
        shown = match.end()
    if shown < len(text):
        yield text[shown:]


@lru_cache(maxsize=512)
def _mark(character: str, *, times: int) -> Mark:
    code = ord(character)
    point = f"U+{code:04X}"
    if code < len(_CONTROL_NAMES):
        label, name = _CONTROL_NAMES[code], f"{point}, control character"
    elif code in _ESCAPED_BYTES:
        label, name = f"0x{code - 0xDC00:02X}", f"byte {code - 0xDC00:02X}, not UTF-8"
    else:
        label, name = point, ", ".join(filter(None, (point, _name_in_words(character))))
    return Mark(f"{label} × {times:,}", name) if times > 1 else Mark(label, name)


def _name_in_words(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cs":
        return "half of a surrogate pair"
    if category == "Cc":
        return "control character"
    return unicodedata.name(character, "").lower()


def _does_its_work(text: str, match: re.Match[str]) -> bool:
    """Whether a joiner or variation selector stands where it changes how its neighbours look."""
    if match.end() - match.start() > 1 or match.start() == 0:
        return False
    before = text[match.start() - 1]
    if _VARIATION_SELECTOR.match(match[1]):
        return _takes_variations(before)
    if match[1] not in _JOINERS or match.end() == len(text):
        return False
    return _is_joined_script(before) and _is_joined_script(text[match.end()])


def _takes_variations(character: str) -> bool:
    """Symbols, digits of keycaps and ideographs have variants; Latin letters have none."""
    return character in "#*0123456789©®" or (
        ord(character) >= 0x2000 and not _INKLESS.match(character) and not character.isspace()
    )


def _is_joined_script(character: str) -> bool:
    """Letters and marks from Hebrew on, and emoji: what joiners were made for."""
    if ord(character) < 0x0590:
        return False
    return unicodedata.category(character)[0] in "LM" or unicodedata.category(character) in ("So", "Sk")
