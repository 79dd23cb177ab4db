"""Pages by key: newest first, no page numbers, nothing counted.

A cursor names the row at the edge of a page by its sort key, so a page costs
the same wherever it lies, and rows that come or go move no other row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
    ordered = queryset.order_by(f"{sign}{moment}", f"{sign}{key}")
    if before:
        found = _rows(ordered.reverse(), _beyond(_read(before), moment, key, back), size)
        rows = found[:size][::-1]
        return _page(rows, moment, key, has_newer=len(found) > size, has_older=bool(rows))
    found = _rows(ordered, _beyond(_read(after), moment, key, on) if after else Q(), size)
    return _page(found[:size], moment, key, has_newer=bool(after and found), has_older=len(found) > size)


def _rows[M: Model](ordered: QuerySet[M], beyond: Q, size: int) -> list[M]:
    try:
        past = ordered.filter(beyond)
    except (TypeError, ValueError) as error:
        # A number where the list's key is a UUID, or the other way round.
        raise BadCursorError("this is the cursor of another list") from error
    return list(past[: size + 1])


def _page[M: Model](rows: list[M], moment: str, key: str, *, has_newer: bool, has_older: bool) -> Page[M]:
    return Page(
        rows,
        newer=_cursor(rows[0], moment, key) if has_newer and rows else "",
        older=_cursor(rows[-1], moment, key) if has_older and rows else "",
    )


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
