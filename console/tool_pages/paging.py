"""Pages of calls, newest first: their key has three columns, so their cursor spells three."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from django.core.exceptions import BadRequest
from django.db.models import Q, QuerySet

from console.listing import PAGE_SIZE
from conversations.models import ToolCall
from conversations.paging import Page

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class _Edge(NamedTuple):
    at: datetime
    key: tuple[UUID, int, str]


def page_of_calls(calls: QuerySet[ToolCall], *, after: str, before: str) -> Page[ToolCall]:
    """Return one page of `calls`, by the time they were asked for; a cursor is a row at its edge."""
    newest_first = calls.order_by("-requested_at", "-conversation_id", "-seq", "-call_id")
    if before:
        found = list(newest_first.reverse().filter(_beyond(_read(before), "gt"))[: PAGE_SIZE + 1])
        rows = found[:PAGE_SIZE][::-1]
        return _page(rows, has_newer=len(found) > PAGE_SIZE, has_older=bool(rows))
    if after:
        newest_first = newest_first.filter(_beyond(_read(after), "lt"))
    found = list(newest_first[: PAGE_SIZE + 1])
    return _page(found[:PAGE_SIZE], has_newer=bool(after), has_older=len(found) > PAGE_SIZE)


def _page(rows: list[ToolCall], *, has_newer: bool, has_older: bool) -> Page[ToolCall]:
    return Page(
        rows,
        newer=_cursor(rows[0]) if has_newer and rows else "",
        older=_cursor(rows[-1]) if has_older and rows else "",
    )


def _beyond(edge: _Edge, side: str) -> Q:
    past = Q(**{f"requested_at__{side}": edge.at})
    beside = Q(requested_at=edge.at) & Q(**{f"pk__{side}": edge.key})
    return Q(**{f"requested_at__{side}e": edge.at}) & (past | beside)


def _cursor(call: ToolCall) -> str:
    microseconds = (call.requested_at - _EPOCH) // _MICROSECOND
    return f"{microseconds}-{call.conversation_id.hex}-{call.seq}-{call.call_id.encode().hex()}"


def _read(cursor: str) -> _Edge:
    try:
        microseconds, conversation, seq, call_id = cursor.split("-")
        at = _EPOCH + int(microseconds) * _MICROSECOND
        key = (UUID(hex=conversation), int(seq), bytes.fromhex(call_id).decode())
    except (ValueError, OverflowError):
        raise BadRequest(f"{cursor[:80]!r} is no cursor of a list") from None
    if "\x00" in key[2] or not 0 < key[1] < 1 << 31:
        raise BadRequest("this is no cursor of a list")
    return _Edge(at, key)
