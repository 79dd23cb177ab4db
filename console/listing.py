"""What every list paged by key has in common: its page, and the addresses beside it."""

from typing import Any
from uuid import UUID

from django.core.exceptions import BadRequest
from django.db.models import Model, QuerySet
from django.http import HttpRequest, QueryDict

from console.filtering import CURSORS, without
from conversations.paging import BadCursorError, Page, page_by_key

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
    newest_first = rows.order_by("-pk")
    if before is not None:
        found = list(newest_first.reverse().filter(pk__gt=before)[: PAGE_SIZE + 1])
        shown = found[:PAGE_SIZE][::-1]
        has_newer, has_older = len(found) > PAGE_SIZE, bool(shown)
    else:
        found = list((newest_first.filter(pk__lt=after) if after else newest_first)[: PAGE_SIZE + 1])
        shown = found[:PAGE_SIZE]
        has_newer, has_older = after is not None and bool(shown), len(found) > PAGE_SIZE
    return Page(
        shown,
        newer=str(shown[0].pk) if has_newer else "",
        older=str(shown[-1].pk) if has_older else "",
    )


def list_context(query: QueryDict, page: Page[Any]) -> dict[str, Any]:
    """Return what the foot of a list and its emptiness need of the address."""
    return {
        "newer": beside(query, "before", page.newer),
        "older": beside(query, "after", page.older),
        "is_filtered": bool({name for name in query if query[name]} - set(CURSORS)),
    }


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
