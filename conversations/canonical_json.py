"""JSON compared by value: key order, spelling of numbers and escapes do not count.

Numbers never become floats, so `1`, `1.0` and `1e0` are one value while two
long amounts that a float would fold together stay two. A repeated key counts
with its last value, as every common reader has it. Unicode is compared as is.
"""

import json
import re
from collections.abc import Callable
from json.encoder import encode_basestring

import orjson

# What orjson would turn into a float: a fraction, an exponent, an integer past 64 bits.
# It also hits inside strings ("v1.2"); those only take the slower, equally exact way.
_NEEDS_EXACT_NUMBERS = re.compile(rb"[0-9][.eE]|[0-9]{19}")
_DEPTH_LIMIT = 254  # orjson's own; one limit for both ways, or equal values would part
_PLAIN_DIGITS = 40  # longer integers keep an exponent: 1e200000 must not be written out


class ExactNumber:
    """A number that is no plain integer, by its one canonical spelling (NaN by its name)."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


type JsonValue = bool | int | str | ExactNumber | list["JsonValue"] | dict[str, "JsonValue"] | None


def parse_value(data: bytes) -> JsonValue:
    """Read JSON without losing any number's value; ValueError where it is no JSON or nested too deep."""
    if not _NEEDS_EXACT_NUMBERS.search(data):
        try:
            value: JsonValue = orjson.loads(data)
            return value
        except orjson.JSONDecodeError:
            pass  # a lone surrogate is legal JSON that orjson refuses; all else fails below as well
    try:
        text = data.decode("utf-8")
        exact: JsonValue = json.loads(
            text, parse_float=_number, parse_int=_number, parse_constant=ExactNumber
        )
        return exact
    except RecursionError:
        raise ValueError("nested too deep") from None


def canonical_bytes(value: JsonValue) -> bytes:
    """Write the value in the one form that all its spellings share."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # Exact numbers and lone surrogates: the same form, written by hand.
        pieces: list[str] = []
        _write(value, pieces.append, _DEPTH_LIMIT)
        return "".join(pieces).encode("utf-8", "surrogatepass")


def canonical_json(data: bytes) -> bytes:
    return canonical_bytes(parse_value(data))


def _write(value: JsonValue, put: Callable[[str], None], depth: int) -> None:
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        put(encode_basestring(value))
    elif isinstance(value, ExactNumber):
        put(value.text)
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
    elif value is None:
        put("null")
    elif isinstance(value, bool):
        put("true" if value else "false")
    else:
        put(str(value))


_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")


def _number(lexeme: str) -> int | ExactNumber:
    """Give `1`, `1.0`, `10e-1` one form: the digits without outer zeros and a power of ten."""
    match = _NUMBER.fullmatch(lexeme)
    if match is None:
        raise ValueError(f"not a JSON number: {lexeme[:40]}")
    sign, whole, fraction, power = match[1], match[2], match[3] or "", match[4] or "0"
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    if len(power) > _PLAIN_DIGITS:
        return ExactNumber(f"{sign}{whole}.{fraction}e{power}")  # beyond any use: compared as spelt
    significant = digits.rstrip("0")
    exponent = int(power) - len(fraction) + len(digits) - len(significant)
    if exponent >= 0 and len(significant) + exponent <= _PLAIN_DIGITS:
        return int(f"{sign}{significant}{'0' * exponent}")
    return ExactNumber(f"{sign}{significant}e{exponent}")
