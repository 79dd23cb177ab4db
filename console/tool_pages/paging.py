"""Pages of calls, newest first: their key has three columns."""

from typing import Final

from django.db.models import QuerySet

from console.composite_pages import number_column, page_by_columns, text_column, uuid_column
from conversations.models import ToolCall
from conversations.paging import Page

_KEY: Final = (uuid_column("conversation_id"), number_column("seq"), text_column("call_id"))


def page_of_calls(calls: QuerySet[ToolCall], *, after: str, before: str) -> Page[ToolCall]:
    """Return one page of `calls`, by the time they were asked for; a cursor is a row at its edge."""
    return page_by_columns(calls, moment="requested_at", columns=_KEY, after=after, before=before)
