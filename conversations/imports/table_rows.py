"""The rows of a delimited text: commas, semicolons, tabs or bars, with or without a spreadsheet's marks."""

import csv
import io
import re
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

from conversations.imports import exact_json
from conversations.imports.splitting import DAMAGES

NOT_UTF8: Final = "not UTF-8"
_HEAD: Final = 1 << 13
_LONGEST_HEADER: Final = 4096
# A spreadsheet may say in the first line which delimiter it wrote.
_STATED_DELIMITER: Final = re.compile(r'"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)
csv.field_size_limit(16 << 20)


class TableRow(NamedTuple):
    """One row: its cells as JSON and by the header's names, or why it could not be read."""

    place: str
    raw: bytes
    cells: dict[str, str]
    trouble: str = ""


def is_table(head: bytes) -> bool:
    """Whether a text that nothing calls a table is one: three names or more, and as many cells below them."""
    if b"\x00" in head[:_HEAD]:
        return False
    text = io.StringIO(head[:_HEAD].decode("utf-8", "replace"), newline="")
    header = text.readline()
    text.seek(0)
    reader = csv.reader(text, delimiter=_delimiter_of(header))
    try:
        names, cells = next(reader, []), next(reader, [])
    except csv.Error:
        return False
    return len(names) >= 3 and len(cells) == len(names) and all(name.strip() for name in names)


def rows_of(stream: IO[bytes]) -> Iterator[TableRow]:
    """Yield a table's rows; a damaged one says so, and what a file's end cuts off is one as well."""
    text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    try:
        # No further than the header: what comes before the damage of a cut archive is still read.
        header_line = text.readline(_LONGEST_HEADER)
        stated = _STATED_DELIMITER.match(header_line)
        if stated is None:
            _rewind(text)
    except DAMAGES as error:
        yield TableRow("line 1", b"", {}, f"the archive is damaged: {error}")
        return
    above = 0 if stated is None else 1
    delimiter = _delimiter_of(header_line) if stated is None else stated.group(1)
    reader = csv.reader(text, delimiter=delimiter, strict=False)
    line = 1
    try:
        header = [name.strip() for name in next(reader, [])]
        for cells in reader:
            line = reader.line_num + above
            if cells:
                yield _row(f"line {line}", header, cells)
    except csv.Error as error:
        yield TableRow(f"after line {line}", b"", {}, f"not a CSV table: {error}")
    except DAMAGES as error:
        yield TableRow(f"after line {line}", b"", {}, f"the archive is damaged: {error}")


def _delimiter_of(header: str) -> str:
    return max(",;\t|", key=header.count)


def _rewind(text: io.TextIOWrapper) -> None:
    """Go back to the start, behind a mark of byte order: before a quote it would be part of the name."""
    text.seek(0)
    if text.read(1) != "\ufeff":
        text.seek(0)


def _row(place: str, header: list[str], cells: list[str]) -> TableRow:
    raw = exact_json.dump(cells)
    if len(cells) != len(header):
        return TableRow(place, raw, {}, f"{len(cells)} cells below a header of {len(header)}")
    if any("\udc80" <= letter <= "\udcff" for cell in cells for letter in cell if letter > "\ud7ff"):
        return TableRow(place, raw, {}, NOT_UTF8)
    return TableRow(place, raw, dict(zip(header, cells, strict=True)))
