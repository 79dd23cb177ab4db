"""JSON read and written without losing a number's spelling or failing on depth.

Exports are hostile: lone surrogates, numbers past every limit, nesting past
the interpreter's stack. `load` takes all of it; `dump` gives compact UTF-8 in
which every number stands as it was spelt.
"""

import json
import re
import secrets
from json.encoder import encode_basestring
from typing import Final

_MARK: Final = f"number-{secrets.token_hex(8)}:"
_MARKED = re.compile(rf'"{_MARK}([^"]*)"')


class Spelling:
    """A number that Python would spell otherwise (`1e2`, `0.10`, `-0`, 5,000 digits, NaN)."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spelling) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def load(raw: bytes) -> object:
    """Read one JSON value; ValueError says in a few words what is wrong with it."""
    text = _text_of(raw)
    try:
        return _decoded(text, _DECODER)
    except RecursionError:
        return _load_deep(text)


def load_noting(raw: bytes) -> tuple[object, int]:
    """As `load`; also how many members were lost to a later one of the same key in the same object.

    Of what is nested past the interpreter's stack nothing is counted.
    """
    text = _text_of(raw)
    repeated = 0

    def read_object(members: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeated
        value = dict(members)
        repeated += len(members) - len(value)
        return value

    decoder = json.JSONDecoder(
        parse_float=_float, parse_int=_int, parse_constant=Spelling, object_pairs_hook=read_object
    )
    try:
        return _decoded(text, decoder), repeated
    except RecursionError:
        return _load_deep(text), 0


def load_within_the_stack(raw: bytes) -> object:
    """As `load`, for callers that nobody knows: what is nested past the interpreter's stack is refused.

    To read it takes a few microseconds and 160 bytes a level: minutes and gigabytes for a body of 16 MiB.
    """
    try:
        return _decoded(_text_of(raw), _DECODER)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _text_of(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None


def _decoded(text: str, decoder: json.JSONDecoder) -> object:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg.lower()} at character {error.pos}") from None


def dump(value: object) -> bytes:
    """Write the value compactly, each number as it was spelt, lone surrogates as escapes."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), default=_marked, check_circular=False
        )
    except RecursionError:
        text = _dump_deep(value)
    if _MARK in text:
        text = _MARKED.sub(r"\1", text)
    return text.encode("utf-8", "backslashreplace")


def _float(spelling: str) -> float | Spelling:
    number = float(spelling)
    return number if repr(number) == spelling else Spelling(spelling)


def _int(spelling: str) -> int | Spelling:
    if len(spelling) > 300 or spelling == "-0":
        return Spelling(spelling)
    return int(spelling)


_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=Spelling)


def _marked(value: object) -> str:
    if isinstance(value, Spelling):
        return _MARK + value.text
    raise TypeError(f"no JSON value: {type(value).__name__}")


_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:([\[\]{},:])|(\")|(-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][-+]?\d++)?)"
    r"|(true|false|null|NaN|-?Infinity))"
)
_WORDS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}


class _Frame:
    """One open array or object, and the key that waits for its value."""

    __slots__ = ("container", "key", "wants_key")

    def __init__(self, container: list[object] | dict[str, object]) -> None:
        self.container = container
        self.key = ""
        self.wants_key = isinstance(container, dict)

    def put(self, value: object) -> None:
        if isinstance(self.container, list):
            self.container.append(value)
        elif self.wants_key:
            if not isinstance(value, str):
                raise ValueError("not JSON: a key that is no string")
            self.key, self.wants_key = value, False
        else:
            self.container[self.key] = value
            self.wants_key = True


def _load_deep(text: str) -> object:
    """Read what the C scanner gave up on for its depth: a stack of our own instead of the interpreter's.

    The C scanner has not judged the text past the point where it gave up, so
    commas and colons are only loosely checked here.
    """
    whole: list[object] = []
    stack = [_Frame(whole)]
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        mark, quote, number, word = match.groups()
        if mark == "{" or mark == "[":
            container: list[object] | dict[str, object] = {} if mark == "{" else []
            stack[-1].put(container)
            stack.append(_Frame(container))
        elif mark == "}" or mark == "]":
            closed = stack.pop()
            if not stack or isinstance(closed.container, dict) != (mark == "}"):
                raise ValueError(f"not JSON: an unmatched bracket at character {position}")
        elif quote:
            value, position = _DECODER.raw_decode(text, position - 1)
            stack[-1].put(value)
        elif number:
            stack[-1].put(_float(number) if re.search("[.eE]", number) else _int(number))
        elif word:
            stack[-1].put(_WORDS[word] if word in _WORDS else Spelling(word))
    if len(stack) != 1 or text[position:].strip(" \t\n\r") or len(whole) != 1:
        raise ValueError(f"not JSON: unexpected text at character {position}")
    return whole[0]


def _dump_deep(value: object) -> str:
    """Write what `json.dumps` gave up on for its depth."""
    pieces: list[str] = []
    waiting: list[object] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Verbatim):
            pieces.append(item)
        elif isinstance(item, dict):
            pieces.append("{")
            waiting.append(_Verbatim("}"))
            for index, (key, member) in reversed(list(enumerate(item.items()))):
                waiting.append(member)
                waiting.append(_Verbatim(("," if index else "") + encode_basestring(key) + ":"))
        elif isinstance(item, list):
            pieces.append("[")
            waiting.append(_Verbatim("]"))
            for index, member in reversed(list(enumerate(item))):
                waiting.append(member)
                if index:
                    waiting.append(_Verbatim(","))
        elif isinstance(item, Spelling):
            pieces.append(item.text)
        else:
            pieces.append(json.dumps(item, ensure_ascii=False))
    return "".join(pieces)


class _Verbatim(str):
    """A piece of JSON text, not a string value."""

    __slots__ = ()
