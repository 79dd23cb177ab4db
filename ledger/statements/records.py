"""Cutting a CSV file into records, each with the line it begins at and its bytes as they came.

The csv module gives cells but not the bytes they were read from, and a quote that is never
closed makes it swallow the rest of the file. Here a record that grows past a limit is given up
as one broken record, and reading goes on with the next line. A mark within a cell that is not
quoted (12" pizza) opens nothing.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MOST_LINES = 200
# The csv module takes no longer cell.
_MOST_BYTES = 128 * 1024
_NOT_CLOSED = "a quotation mark is never closed"
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Record:
    """One record: `cells` is None where it cannot be read, and `trouble` says why."""

    number: int
    raw: bytes
    cells: list[str] | None
    trouble: str = ""


def records(lines: Iterable[bytes], *, delimiter: str = ",") -> Iterator[Record]:
    """Cut physical lines, with their ends, into records; empty lines are left out."""
    held: list[bytes] = []
    begun, size, is_open = 1, 0, False
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(_MARK)
        if not held:
            begun = number
        held.append(line)
        size += len(line)
        marks = line.count(b'"')
        if marks % 2 or (is_open and marks):
            is_open = _is_open(b"".join(held), delimiter)
        if is_open and (len(held) >= _MOST_LINES or size >= _MOST_BYTES):
            # What follows the line with the stray quote is read on its own.
            yield from _given_up(held, begun, delimiter)
            held, size, is_open = [], 0, False
        elif not is_open:
            yield from _joined(begun, held, delimiter)
            held, size = [], 0
    if held:
        yield from _given_up(held, begun, delimiter)


def _is_open(raw: bytes, delimiter: str) -> bool:
    """Whether a quoted cell goes on in the next line."""
    try:
        next(csv.reader([raw.decode("utf-8", "replace")], delimiter=delimiter, strict=True), None)
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def _given_up(lines: list[bytes], begun: int, delimiter: str) -> Iterator[Record]:
    yield Record(begun, lines[0], None, _NOT_CLOSED)
    for number, line in enumerate(lines[1:], begun + 1):
        yield from _whole(number, line, delimiter)


def _joined(begun: int, lines: list[bytes], delimiter: str) -> Iterator[Record]:
    """Read lines as one record; where they are none, a stray mark has joined them, and each is its own."""
    found = list(_whole(begun, b"".join(lines), delimiter))
    if len(lines) > 1 and found and found[0].cells is None:
        yield from _given_up(lines, begun, delimiter)
    else:
        yield from found


def _whole(number: int, raw: bytes, delimiter: str) -> Iterator[Record]:
    if not raw.strip():
        return
    if len(raw) > _MOST_BYTES:
        yield Record(number, raw[:_MOST_BYTES], None, "the line is longer than any statement writes")
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Record(number, raw, None, f"byte {error.start + 1} is not UTF-8")
        return
    if "\0" in text:
        yield Record(number, raw, None, "it holds a NUL character")
        return
    try:
        cells = next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        yield Record(number, raw, None, _trouble(str(error)))
        return
    if any(cell.strip() for cell in cells):
        yield Record(number, raw, [cell.strip() for cell in cells])


def _trouble(error: str) -> str:
    if "unexpected end" in error:
        return _NOT_CLOSED
    if "new-line" in error:
        return "it holds a line end outside of quotation marks; lines end in a line feed"
    return "its quotation marks do not stand as CSV has them"
