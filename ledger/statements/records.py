"""Cutting a CSV file into records, each with the line it begins at and its bytes as they came.

The csv module gives cells but not the bytes they were read from, and a quote that is never
closed makes it swallow the rest of the file. Here a record that grows past a limit is given up
as one broken record, and reading goes on with the next line.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MOST_LINES = 200
_MOST_BYTES = 256 * 1024
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Record:
    """One record: `cells` is None where it cannot be read, and `trouble` says why."""

    number: int
    raw: bytes
    cells: list[str] | None
    trouble: str = ""


def records(lines: Iterable[bytes]) -> Iterator[Record]:
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
        is_open ^= line.count(b'"') % 2 == 1
        if is_open and (len(held) >= _MOST_LINES or size >= _MOST_BYTES):
            # What follows the line with the stray quote is read on its own.
            yield Record(begun, held[0], None, "a quotation mark is never closed")
            yield from _one_by_one(held[1:], begun + 1)
            held, size, is_open = [], 0, False
        elif not is_open:
            yield from _whole(begun, b"".join(held))
            held, size = [], 0
    if held:
        yield Record(begun, held[0], None, "a quotation mark is never closed")
        yield from _one_by_one(held[1:], begun + 1)


def _one_by_one(lines: list[bytes], begun: int) -> Iterator[Record]:
    for offset, line in enumerate(lines):
        if line.count(b'"') % 2:
            yield Record(begun + offset, line, None, "a quotation mark is never closed")
        else:
            yield from _whole(begun + offset, line)


def _whole(number: int, raw: bytes) -> Iterator[Record]:
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
    cells = next(csv.reader([text]), [])
    if any(cell.strip() for cell in cells):
        yield Record(number, raw, [cell.strip() for cell in cells])
