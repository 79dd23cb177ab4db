"""JSON compared by value: key order, spelling of numbers and escapes do not count.

Numbers never become floats, so `1`, `1.0` and `1e0` are one value while two
long amounts that a float would fold together stay two. A repeated key counts
with its last value, as every common reader has it. Unicode is compared as is.
"""

from collections.abc import Callable
from functools import lru_cache
from json import JSONDecodeError, JSONDecoder
from json.encoder import encode_basestring

import orjson

_DEPTH_LIMIT = 254  # orjson's own; one limit for both ways of writing, or equal values would part
_PLAIN_DIGITS = 40  # longer integers keep an exponent: 1e200000 must not be written out


class ExactNumber:
    """A number that is no plain integer, by its one canonical spelling (NaN by its name)."""

    __slots__ = ("fragment", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.fragment = orjson.Fragment(text)


type JsonValue = bool | int | str | ExactNumber | list["JsonValue"] | dict[str, "JsonValue"] | None


def parse_value(data: bytes) -> JsonValue:
    """Read JSON without losing any number's value; ValueError where it is no JSON or nested too deep."""
    text = data.decode()
    try:
        value: JsonValue = _decode(text)
    except JSONDecodeError:
        raise
    except RecursionError:
        raise ValueError("nested too deep") from None
    except ValueError:
        # An integer of more digits than Python reads at once: only then is each integer worth a call.
        value = _decode_long(text)
    return value


def canonical_bytes(value: JsonValue) -> bytes:
    """Write the value in the one form that all its spellings share."""
    try:
        return orjson.dumps(value, default=_fragment, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # Integers past 64 bits and lone surrogates: the same form, written by hand.
        pieces: list[str] = []
        _write(value, pieces.append, _DEPTH_LIMIT)
        return "".join(pieces).encode("utf-8", "surrogatepass")


def canonical_json(data: bytes) -> bytes:
    return canonical_bytes(parse_value(data))


@lru_cache(maxsize=4096)
def _number(lexeme: str) -> int | ExactNumber:
    """Give `1`, `1.0`, `10e-1` one form: the digits without outer zeros and a power of ten."""
    mantissa, _, power = lexeme.lower().partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    if len(power) > _PLAIN_DIGITS:
        return ExactNumber(f"{sign}{whole}.{fraction}e{power}")  # beyond any use: compared as spelt
    significant = digits.rstrip("0")
    exponent = int(power or "0") - len(fraction) + len(digits) - len(significant)
    if exponent >= 0 and len(significant) + exponent <= _PLAIN_DIGITS:
        return int(f"{sign}{significant}{'0' * exponent}")
    return ExactNumber(f"{sign}{significant}e{exponent}")


_decode = JSONDecoder(parse_float=_number, parse_constant=ExactNumber).decode
_decode_long = JSONDecoder(parse_float=_number, parse_int=_number, parse_constant=ExactNumber).decode


def _fragment(value: object) -> orjson.Fragment:
    if isinstance(value, ExactNumber):
        return value.fragment
    raise TypeError


def _write(value: JsonValue, put: Callable[[str], None], depth: int) -> None:
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        put(encode_basestring(value))
    elif isinstance(value, dict):
        separator = "{"
        for key in sorted(value):
            put(f"{separator}{encode_basestring(key)}:")
            _write(value[key], put, depth - 1)
            separator = ","
        put("}" if value else "{}")
    elif isinstance(value, list):
        separator = "["
        for item in value:
            put(separator)
            _write(item, put, depth - 1)
            separator = ","
        put("]" if value else "[]")
    else:
        put(_scalar(value))


def _scalar(value: bool | int | ExactNumber | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    number = value if isinstance(value, ExactNumber) else _number(str(value))
    return number.text if isinstance(number, ExactNumber) else str(number)
