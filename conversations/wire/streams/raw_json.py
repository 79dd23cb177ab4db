"""Objects put together from pieces of JSON text, so that no number or spelling is lost on the way."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring

from conversations.wire.shapes import WireError
from conversations.wire.slices import Lexeme, read_json

type RawObject = dict[str, str]  # member names to the JSON text of their values


# Far beyond what any tool's arguments need, and far below what exhausts the stack when written again.
DEEPEST = 400


def read_event(data: str) -> object:
    """An event's value; raises WireError for what is no JSON, or nested deeper than can be written again."""
    value = read_json(data)
    if data.count("[") + data.count("{") > DEEPEST and _is_too_deep(value):
        raise WireError("nested too deeply to be read")
    return value


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


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
