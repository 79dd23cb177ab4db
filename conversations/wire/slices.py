"""JSON that keeps its place: values beside the exact slices they were written in.

Values are read by the standard library's C scanner. Only where a slice is
wanted (a body's members, its list of messages, a message's members, a list of
blocks) is the text walked by hand, member by member. Nothing is normalised:
duplicate keys, odd white space and number spellings stay in the slices.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from json import JSONDecodeError, JSONDecoder
from typing import NamedTuple

from conversations.wire.shapes import WireError

type Json = bool | int | Decimal | "Lexeme" | str | list["Json"] | dict[str, "Json"] | None
type Reader = Callable[[str, int], tuple[object, int]]

# Python refuses to make an int from more digits than this; such a number stays a Decimal.
LONGEST_INT = 4300
BYTE_ORDER_MARK = "\ufeff"

_SPACE = frozenset(" \t\n\r")
_match_space = re.compile(r"[ \t\n\r]*").match
# A name without escapes, with its colon and the white space around: nearly all of them.
_match_plain_key = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*').match


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A number that no exact type holds (NaN, Infinity, an absurd exponent), as it was spelled."""

    text: str


class Member(NamedTuple):
    """One member of an object; `text[start:end]` runs from its key to its value's end."""

    key: str
    start: int
    value_start: int
    end: int
    value: object


class Item(NamedTuple):
    """One item of a list, written in `text[start:end]`."""

    start: int
    end: int
    value: object


class Sliced(NamedTuple):
    """An object or a list that was walked, with its members or items in order."""

    start: int
    end: int
    members: list[Member]
    items: list[Item]
    is_object: bool

    def named(self) -> dict[str, Member]:
        """The members that count, by name."""
        return {member.key: member for member in self.members}

    def last(self, key: str) -> Member | None:
        """The member that counts where a key is repeated: the last."""
        for member in reversed(self.members):
            if member.key == key:
                return member
        return None

    def value(self, key: str) -> object:
        member = self.last(key)
        return None if member is None else member.value


# A body has hundreds of members and items: the class's own constructor takes twice the time.
_new = tuple.__new__


def _read_int(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= LONGEST_INT else Decimal(digits)


def _read_float(digits: str) -> Decimal | Lexeme:
    try:
        return Decimal(digits)
    except InvalidOperation:
        return Lexeme(digits)


_decode = JSONDecoder(parse_float=_read_float, parse_constant=Lexeme).raw_decode
_decode_long = JSONDecoder(parse_float=_read_float, parse_int=_read_int, parse_constant=Lexeme).raw_decode


def decode_text(body: bytes) -> str:
    """The body as text; raises WireError naming the byte that is not UTF-8."""
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise WireError("the body is not valid UTF-8", place=f"byte {error.start}") from error


def skip_space(text: str, position: int) -> int:
    if text[position : position + 1] not in _SPACE:
        return position
    match = _match_space(text, position)
    return match.end() if match else position


def read_value(text: str, position: int) -> tuple[object, int]:
    """The value that starts at `position`, and where it ends."""
    try:
        value, end = _decode(text, position)
    except JSONDecodeError as error:
        raise WireError(error.msg, place=f"character {error.pos}") from error
    except ValueError:
        # An integer past Python's limit: read once more, the slow way. It is JSON up to there;
        # what follows may still not be.
        return _read_long(text, position)
    except RecursionError as error:
        raise WireError("nested too deeply to be read", place=f"character {position}") from error
    return value, end


def _read_long(text: str, position: int) -> tuple[object, int]:
    try:
        value, end = _decode_long(text, position)
    except JSONDecodeError as error:
        raise WireError(error.msg, place=f"character {error.pos}") from error
    except RecursionError as error:
        raise WireError("nested too deeply to be read", place=f"character {position}") from error
    return value, end


def read_json(text: str) -> object:
    """One whole JSON text with numbers exact; raises WireError, also on what follows the value."""
    value, end = read_value(text, skip_space(text, 0))
    if skip_space(text, end) != len(text):
        raise WireError("more text after the JSON value", place=f"character {end}")
    return value


def slice_json(text: str, readers: Mapping[str, Reader]) -> Sliced:
    """The members of the one object that `text` holds; `readers` walk the values of their keys."""
    start = 1 if text.startswith(BYTE_ORDER_MARK) else 0
    position = skip_space(text, start)
    if not text.startswith("{", position):
        raise WireError("the body is not a JSON object", place=f"character {position}")
    sliced, end = slice_object(text, position, readers)
    if skip_space(text, end) != len(text):
        raise WireError("more text after the JSON object", place=f"character {end}")
    return sliced


def slice_object(text: str, position: int, readers: Mapping[str, Reader]) -> tuple[Sliced, int]:
    """Walk the object whose brace is at `position`, one member after another."""
    members: list[Member] = []
    start = position
    position = skip_space(text, position + 1)
    if text.startswith("}", position):
        return Sliced(start, position + 1, members, [], True), position + 1
    while True:
        plain = _match_plain_key(text, position)
        if plain is None:
            key, key_start, value_start = _read_key(text, skip_space(text, position))
        else:
            key, key_start, value_start = plain[1], plain.start(1) - 1, plain.end()
        value, position = readers.get(key, read_value)(text, value_start)
        members.append(_new(Member, (key, key_start, value_start, position, value)))
        if text.startswith(",", position):
            position += 1
            continue
        position, is_last = _next(text, position, "}")
        if is_last:
            return Sliced(start, position, members, [], True), position


def slice_list(text: str, position: int, read: Reader = read_value) -> tuple[Sliced, int]:
    """Walk the list whose bracket is at `position`; each item is read by `read`."""
    items: list[Item] = []
    start = position
    position = skip_space(text, position + 1)
    if text.startswith("]", position):
        return Sliced(start, position + 1, [], items, False), position + 1
    while True:
        position = skip_space(text, position)
        value, end = read(text, position)
        items.append(_new(Item, (position, end, value)))
        if text.startswith(",", end):
            position = end + 1
            continue
        position, is_last = _next(text, end, "]")
        if is_last:
            return Sliced(start, position, [], items, False), position


def read_object(readers: Mapping[str, Reader]) -> Reader:
    """A reader that walks an object and reads anything else plainly."""

    def read(text: str, position: int) -> tuple[object, int]:
        if text.startswith("{", position):
            return slice_object(text, position, readers)
        return read_value(text, position)

    return read


def read_list(read_item: Reader = read_value) -> Reader:
    """A reader that walks a list and reads anything else plainly."""

    def read(text: str, position: int) -> tuple[object, int]:
        if text.startswith("[", position):
            return slice_list(text, position, read_item)
        return read_value(text, position)

    return read


def _read_key(text: str, position: int) -> tuple[str, int, int]:
    """A name with escapes in it, or the error that says what stands there instead."""
    if not text.startswith('"', position):
        raise WireError("a member's name is missing", place=f"character {position}")
    key, end = read_value(text, position)
    end = skip_space(text, end)
    if not text.startswith(":", end):
        raise WireError("':' is missing", place=f"character {end}")
    return str(key), position, skip_space(text, end + 1)


def _next(text: str, position: int, closing: str) -> tuple[int, bool]:
    """Step over the comma or the closing mark; say which it was."""
    mark = text[position : position + 1]
    if mark in _SPACE:
        position = skip_space(text, position)
        mark = text[position : position + 1]
    if mark == ",":
        return position + 1, False
    if mark == closing:
        return position + 1, True
    raise WireError(f"',' or '{closing}' is missing", place=f"character {position}")
