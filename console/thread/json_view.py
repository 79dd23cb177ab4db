"""JSON from outside as a page shows it: laid out, each number as it was spelt, no key dropped.

What is shown is a reading of the bytes, never the record: it says so where a
key occurs twice, because every common reader keeps only the last.
"""

import json
from collections import Counter
from collections.abc import Iterator
from json import JSONDecoder
from typing import Final

_DEEPEST: Final = 100
_TOO_DEEP: Final = "nested too deep to be laid out"


class Spelt(str):
    """A number or constant in the spelling it arrived in."""

    __slots__ = ()


class Object(list[tuple[str, object]]):
    """An object's members in their order, repeated ones too."""

    __slots__ = ()

    def last(self, key: str) -> object:
        """The member that counts for a common reader; None where there is none."""
        return next((value for name, value in reversed(self) if name == key), None)


_decoder: Final = JSONDecoder(
    object_pairs_hook=Object, parse_int=Spelt, parse_float=Spelt, parse_constant=Spelt
)


def read(text: str) -> object:
    """Read one JSON value; ValueError where it is none, or nested past any reader's depth."""
    try:
        value = _decoder.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if not _is_shallow(value):
        raise ValueError(_TOO_DEEP)
    return value


def repeated_keys(value: object) -> list[str]:
    """Return "q.zeta" for each key that one object holds more than once, with where it stands."""
    return list(dict.fromkeys(_repeated(value, "")))


def laid_out(value: object) -> str:
    """Return the value on several lines; short ones stay on one."""
    line = on_one_line(value)
    return line if len(line) <= 96 else "".join(_lines(value, 0))


def on_one_line(value: object) -> str:
    return "".join(_compact(value))


def peek_of(value: object) -> str:
    """Return the arguments of a call for its line: `booking_ref "WM-58213", passengers 2`."""
    if not isinstance(value, Object):
        return on_one_line(value)
    return ", ".join(f"{key} {on_one_line(item)}" for key, item in value[:12])


def _is_shallow(value: object) -> bool:
    """Level by level, because what is too deep cannot be walked by recursion."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [item for holder in level for item in _items(holder)]
        if not level:
            return True
    return False


def _items(value: object) -> list[object]:
    if isinstance(value, Object):
        return [item for _, item in value]
    return list(value) if isinstance(value, list) else []


def _repeated(value: object, place: str) -> Iterator[str]:
    if isinstance(value, Object):
        counts = Counter(key for key, _ in value)
        yield from (f"{place}{key}" for key, count in counts.items() if count > 1)
        for key, item in value:
            yield from _repeated(item, f"{place}{key}.")
    elif isinstance(value, list):
        for item in value:
            yield from _repeated(item, place)


def _scalar(value: object) -> str:
    if isinstance(value, Spelt):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def _compact(value: object) -> Iterator[str]:
    if isinstance(value, Object):
        yield "{"
        for place, (key, item) in enumerate(value):
            yield f"{', ' if place else ''}{_scalar(key)}: "
            yield from _compact(item)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for place, item in enumerate(value):
            yield ", " if place else ""
            yield from _compact(item)
        yield "]"
    else:
        yield _scalar(value)


def _lines(value: object, depth: int) -> Iterator[str]:
    if not isinstance(value, list) or not value:
        yield from _compact(value)
        return
    is_object = isinstance(value, Object)
    inner, outer = "  " * (depth + 1), "  " * depth
    yield "{" if is_object else "["
    for place, item in enumerate(value):
        yield f"{',' if place else ''}\n{inner}"
        if is_object:
            key, item = item
            yield f"{_scalar(key)}: "
        yield from _lines(item, depth + 1)
    yield f"\n{outer}{'}' if is_object else ']'}"
