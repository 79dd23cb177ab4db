"""Pages by a key of several columns, newest first: the cursor spells the moment and each column."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import BadRequest
from django.db.models import Model, Q, QuerySet

from console.listing import PAGE_SIZE
from conversations.paging import Page, cut_page

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a key; `read` raises ValueError for what was never one."""

    name: str
    spell: Callable[[Any], str]
    read: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class _Edge:
    at: datetime
    key: tuple[Any, ...]


def page_by_columns[M: Model](
    rows: QuerySet[M], *, moment: str, columns: Sequence[Column], after: str, before: str
) -> Page[M]:
    """Return one page of `rows` by their moment; the columns are the whole primary key, in its order.

    Raises BadRequest for a cursor that never was one.
    """
    rows = rows.order_by(f"-{moment}", *(f"-{column.name}" for column in columns))
    if before:
        rows = rows.reverse().filter(_beyond(_read(before, columns), moment, "gt"))
    elif after:
        rows = rows.filter(_beyond(_read(after, columns), moment, "lt"))
    return cut_page(
        rows,
        size=PAGE_SIZE,
        is_back=bool(before),
        is_first=not (before or after),
        cursor_of=lambda row: _cursor(row, moment, columns),
    )


def _beyond(edge: _Edge, moment: str, side: str) -> Q:
    past = Q(**{f"{moment}__{side}": edge.at})
    beside = Q(**{moment: edge.at, f"pk__{side}": edge.key})
    return Q(**{f"{moment}__{side}e": edge.at}) & (past | beside)


def _cursor(row: Model, moment: str, columns: Sequence[Column]) -> str:
    microseconds = (getattr(row, moment) - _EPOCH) // _MICROSECOND
    return "-".join([str(microseconds), *(column.spell(getattr(row, column.name)) for column in columns)])


def _read(cursor: str, columns: Sequence[Column]) -> _Edge:
    try:
        microseconds, *spelt = cursor.split("-")
        at = _EPOCH + int(microseconds) * _MICROSECOND
        key = tuple(column.read(text) for column, text in zip(columns, spelt, strict=True))
    except (ValueError, OverflowError):
        raise BadRequest(f"{cursor[:80]!r} is no cursor of a list") from None
    return _Edge(at, key)


def _number(text: str) -> int:
    number = int(text)
    if not 0 < number < 1 << 31:
        raise ValueError("no number that counts")
    return number


def _text(spelt: str) -> str:
    text = bytes.fromhex(spelt).decode()
    if "\x00" in text:
        raise ValueError("no text of a column")
    return text


def uuid_column(name: str) -> Column:
    return Column(name, lambda value: str(value.hex), lambda text: UUID(hex=text))


def number_column(name: str) -> Column:
    return Column(name, str, _number)


def text_column(name: str) -> Column:
    return Column(name, lambda value: value.encode().hex(), _text)
