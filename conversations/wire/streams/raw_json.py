"""Objects put together from pieces of JSON text, so that no number or spelling is lost on the way."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring

from conversations.wire.slices import Lexeme

type RawObject = dict[str, str]  # member names to the JSON text of their values


class Pieces:
    """A string that grows: joined once, when it is written."""

    __slots__ = ("_pieces",)

    def __init__(self, *pieces: str) -> None:
        self._pieces = list(pieces)

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def __str__(self) -> str:
        return "".join(self._pieces)


def write_text(value: str) -> str:
    """A string as the compact style spells it; lone surrogates as escapes."""
    literal = encode_basestring(value)
    try:
        literal.encode()
    except UnicodeEncodeError:
        return literal.translate(_SURROGATES)
    return literal


_SURROGATES = {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}


def write_object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{write_text(name)}:{raw}" for name, raw in members.items()) + "}"


def write_list(items: Sequence[str]) -> str:
    return "[" + ",".join(items) + "]"


def write_value(value: object) -> str:
    """Any value that `slices` reads, written compactly with its numbers exact."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return write_text(value)
        case Pieces():
            return write_text(str(value))
        case Lexeme():
            return value.text
        case int() | Decimal():
            return str(value)
        case dict():
            return write_object({name: write_value(item) for name, item in value.items()})
        case list():
            return write_list([write_value(item) for item in value])
    raise TypeError(f"no JSON value: {type(value).__name__}")
