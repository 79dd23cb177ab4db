"""How JSON writers spell a string, and which spelling a slice used.

A string is kept as plain text only where one of these spellings gives its
literal back. The two styles' own spellings come first; the others are the
habits of well-known writers and are pinned in the shell by their letter.
"""

import re
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii

import orjson

from conversations.wire.shapes import Style

_HTML = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_GSON = {**_HTML, ord("="): "\\u003d", ord("'"): "\\u0027"}
_DOTNET = str.maketrans(
    {
        "<": "\\u003C",
        ">": "\\u003E",
        "&": "\\u0026",
        "'": "\\u0027",
        "+": "\\u002B",
        "`": "\\u0060",
        "\x7f": "\\u007F",
    }
)
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _upper_case(literal: str) -> str:
    """`\\u00e9` as `\\u00E9`; only the digits of real escapes are touched."""
    return _ESCAPE.sub(lambda m: m[0][:2] + m[0][2:].upper(), literal)


def _slashed(literal: str) -> str:
    return literal.replace("/", "\\/")


def _dotnet(text: str) -> str:
    """System.Text.Json's default: quotes as \\u0022, HTML's characters and all non-ASCII escaped."""
    literal = _upper_case(encode_basestring_ascii(text)).translate(_DOTNET)
    quoted = _ESCAPE.sub(lambda m: "\\u0022" if m[0] == '\\"' else m[0], literal[1:-1])
    return f'"{quoted}"'


# The letters are stored in shells: one is never given another meaning.
HABITS: dict[str, Callable[[str], str]] = {
    "u": encode_basestring,
    "a": encode_basestring_ascii,
    "s": lambda text: _slashed(encode_basestring(text)),  # PHP with JSON_UNESCAPED_UNICODE, Foundation
    "p": lambda text: _slashed(encode_basestring_ascii(text)),  # PHP
    "h": lambda text: encode_basestring(text).translate(_HTML),  # Go, Rails
    "g": lambda text: encode_basestring(text).translate(_GSON),  # Gson
    "U": lambda text: _upper_case(encode_basestring_ascii(text)),  # Jackson with ESCAPE_NON_ASCII
    "n": _dotnet,
}


def spell(text: str, style: Style) -> str:
    """The literal that the style's writer makes of `text`."""
    # The standard library's writers, at a fifth of their time wherever orjson spells the same.
    if style.is_ascii and (not text.isascii() or "\x7f" in text):
        return encode_basestring_ascii(text)
    try:
        return orjson.dumps(text).decode()
    except orjson.JSONEncodeError:
        return encode_basestring(text)  # lone surrogates, which no UTF-8 holds


def spell_bytes(text: str, style: Style) -> bytes:
    """The same as bytes, for what is going to be joined; UnicodeEncodeError where no UTF-8 holds the text."""
    if style.is_ascii and (not text.isascii() or "\x7f" in text):
        return encode_basestring_ascii(text).encode()
    try:
        return orjson.dumps(text)
    except orjson.JSONEncodeError:
        return encode_basestring(text).encode()


def find_habit(text: str, literal: str) -> str | None:
    """The letter of the first habit that spells `text` as `literal`."""
    for letter, write in HABITS.items():
        if write(text) == literal:
            return letter
    return None


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can hold the text: no NUL, no lone surrogates."""
    if "\x00" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()  # fails on lone surrogates, and is far quicker than searching for them
    except UnicodeEncodeError:
        return False
    return True


def readable_copy(text: str) -> str:
    """The text with a visible mark where PostgreSQL could not hold a character."""
    if is_storable(text):
        return text
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
