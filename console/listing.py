"""What every list paged by key has in common: its page, and the addresses beside it."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.core.exceptions import BadRequest
from django.db.models import Model, QuerySet
from django.http import HttpRequest, QueryDict

from console.filtering import CURSORS, without
from conversations.paging import BadCursorError, Page, cut_page, page_by_key

PAGE_SIZE = 50


def read_page[M: Model](
    request: HttpRequest, rows: QuerySet[M], *, moment: str, key: str = "id", is_oldest_first: bool = False
) -> Page[M]:
    """Return the page that the address names, newest first; a cursor that never was one is a bad request."""
    try:
        return page_by_key(
            rows,
            moment=moment,
            key=key,
            is_oldest_first=is_oldest_first,
            size=PAGE_SIZE,
            after=request.GET.get("after", ""),
            before=request.GET.get("before", ""),
        )
    except BadCursorError as error:
        raise BadRequest(str(error)) from error


def read_page_by_id[M: Model](request: HttpRequest, rows: QuerySet[M]) -> Page[M]:
    """Return a page of rows whose ids are minted in the order of time: the primary key is the index."""
    after, before = (_uuid(request.GET.get(name, "")) for name in ("after", "before"))
    rows = rows.order_by("-pk")
    if before is not None:
        rows = rows.reverse().filter(pk__gt=before)
    elif after is not None:
        rows = rows.filter(pk__lt=after)
    return cut_page(
        rows,
        size=PAGE_SIZE,
        is_back=before is not None,
        is_first=before is after is None,
        cursor_of=lambda row: str(row.pk),
    )


def list_context(query: QueryDict, page: Page[Any]) -> dict[str, Any]:
    """Return what the foot of a list and its emptiness need of the address."""
    return {
        "newer": beside(query, "before", page.newer),
        "older": beside(query, "after", page.older),
        "is_filtered": bool({name for name in query if query[name]} - set(CURSORS)),
    }


def kept(query: QueryDict, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return the filters that links have set: the form of typed ones carries them along."""
    return [(name, value) for name in names if (value := str(query.get(name, "")))]


def beside(query: QueryDict, name: str, cursor: str) -> str:
    """Return the address of the page on that side, or nothing."""
    if not cursor:
        return ""
    base = without(query)
    return f"{base}{'' if base == '?' else '&'}{name}={cursor}"


def _uuid(text: str) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise BadRequest(f"{text[:80]!r} is no cursor of a list") from None
