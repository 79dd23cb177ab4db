"""Cells and lines of every CSV export.

A spreadsheet runs a cell that begins like a formula, and the texts here come from strangers. Such
a cell gets an apostrophe in front, which spreadsheets read as "this is text". Numbers are numbers:
an amount of -12.50 stays one.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

from django.http import StreamingHttpResponse

# Spreadsheets take a file without this mark for one in an old encoding and garble "Inês".
BYTE_ORDER_MARK: Final = "\ufeff"

# The full-width and small forms are folded to these by spreadsheets set to East Asian languages. Blanks
# and characters without ink in front are skipped, because some programs trim them before they look.
_NO_INK: Final = (
    r"\s\x00-\x1f\x7f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff"
)
_FORMULA: Final = re.compile(rf"[{_NO_INK}]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def csvsafe(value: object) -> str:
    """Return one cell: numbers bare, times in UTC, text that no spreadsheet will run.

    A float is refused: amounts are whole minor units or decimals.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        raise TypeError(f"{value!r} is a float; export an int or a Decimal")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return _neutral(str(value))


def csv_lines(*, header: Iterable[object], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield the lines of a CSV file, ready to stream; heads are neutralised like any cell."""
    writer = csv.writer(_Line(), quoting=csv.QUOTE_MINIMAL)
    yield BYTE_ORDER_MARK + writer.writerow([csvsafe(cell) for cell in header])
    for row in rows:
        yield writer.writerow([csvsafe(cell) for cell in row])


def csv_answer(
    *, name: str, header: Iterable[object], rows: Iterable[Iterable[object]]
) -> StreamingHttpResponse:
    """Return the lines as a download that streams; `name` is the file's, without its ending."""
    return StreamingHttpResponse(
        csv_lines(header=header, rows=rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def _neutral(text: str) -> str:
    text = _SURROGATE.sub("\ufffd", text).replace("\x00", "\ufffd")
    if _NUMBER.fullmatch(text) or not _FORMULA.match(text):
        return text
    return f"'{text}"


class _Line:
    """A file of one line: `csv.writer` returns what `write` returns, so nothing is gathered."""

    def write(self, line: str) -> str:
        return line
