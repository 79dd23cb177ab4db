"""Pages by key: newest first, no page numbers, nothing counted.

A cursor names the row at the edge of a page by its sort key, so a page costs
the same wherever it lies, and rows that come or go move no other row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet

AFTER = "after"
BEFORE = "before"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class BadCursorError(ValueError):
    """What stands in the address was never a cursor of this list."""


@dataclass(frozen=True, slots=True)
class Page[Row]:
    """Rows, newest first, and the cursors of the pages beside it; empty where there is none."""

    rows: Sequence[Row]
    newer: str = ""
    older: str = ""


def page_by_key[M: Model](
    queryset: QuerySet[M],
    *,
    moment: str,
    size: int,
    after: str = "",
    before: str = "",
    key: str = "id",
    is_oldest_first: bool = False,
) -> Page[M]:
    """Return one page of `queryset`, by (`moment`, `key`) descending, in one query.

    `after` is the cursor of the last row of the page before it; `before` that of
    the first row of the page behind it. With the oldest first, `newer` leads back
    to older rows and `older` on to newer ones. Raises BadCursorError.
    """
    sign, back, on = ("", "lt", "gt") if is_oldest_first else ("-", "gt", "lt")
    rows = queryset.order_by(f"{sign}{moment}", f"{sign}{key}")
    if before:
        rows = _past(rows.reverse(), _beyond(_read(before), moment, key, back))
    elif after:
        rows = _past(rows, _beyond(_read(after), moment, key, on))
    return cut_page(
        rows,
        size=size,
        is_back=bool(before),
        is_first=not (before or after),
        cursor_of=partial(_cursor, moment=moment, key=key),
    )


def cut_page[M: Model](
    rows: QuerySet[M], *, size: int, is_back: bool, is_first: bool, cursor_of: Callable[[M], str]
) -> Page[M]:
    """Take one page from the start of `rows`, which begin at the edge that the cursor named, in one query.

    `is_back` where they run towards the start of the list; `is_first` where no cursor was given.
    """
    found = list(rows[: size + 1])
    shown = found[:size][::-1] if is_back else found[:size]
    goes_on, came_from = len(found) > size, bool(shown) and not is_first
    has_newer, has_older = (goes_on, came_from) if is_back else (came_from, goes_on)
    return Page(
        shown,
        newer=cursor_of(shown[0]) if has_newer else "",
        older=cursor_of(shown[-1]) if has_older else "",
    )


def _past[M: Model](rows: QuerySet[M], beyond: Q) -> QuerySet[M]:
    try:
        return rows.filter(beyond)
    except (TypeError, ValueError) as error:
        # A number where the list's key is a UUID, or the other way round.
        raise BadCursorError("this is the cursor of another list") from error


def _beyond(edge: tuple[datetime, UUID | int], moment: str, key: str, side: str) -> Q:
    """The rows past the edge; the first condition is the one that an index can walk to."""
    at, identity = edge
    return Q(**{f"{moment}__{side}e": at}) & (
        Q(**{f"{moment}__{side}": at}) | Q(**{moment: at, f"{key}__{side}": identity})
    )


def _cursor(row: Any, moment: str, key: str) -> str:
    identity = getattr(row, key)
    name = identity.hex if isinstance(identity, UUID) else str(identity)
    return f"{(getattr(row, moment) - _EPOCH) // _MICROSECOND}-{name}"


def _read(cursor: str) -> tuple[datetime, UUID | int]:
    microseconds, _, name = cursor.rpartition("-")
    try:
        at = _EPOCH + int(microseconds) * _MICROSECOND
        return at, UUID(hex=name) if len(name) == 32 else int(name)
    except (ValueError, OverflowError):
        raise BadCursorError(f"{cursor[:80]!r} is no cursor of a list") from None
