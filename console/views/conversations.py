"""The list of conversations, and its CSV."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from access.permissions import holds, requires, staff_of
from access.reach import Reach, reach_of
from access.reading import reading_rows, reads_customers
from access.rights import RightName
from console.conversation_list import CSV_HEADER, csv_rows, filter_groups, listed, rows_of
from console.csv import csv_answer
from console.exporting import log_list_export
from console.filtering import without
from console.filters import ListedConversationFilter
from console.frame import frame_context
from console.listing import kept, list_context, read_page
from console.titles import titles_for
from conversations.models import Conversation

TITLE = "Conversations"
PURPOSE = (
    "What was said, newest activity first. Names are masked; a conversation opens with what it cost and did."
)
# What is typed, and what is chosen by a link in the column beside the list.
TYPED = ("title", "account", "realm", "model", "tool", "active_until")
LINKED = (
    *("active_since", "status", "has_effect", "has_fork", "source", "is_replayable"),
    "quarantined_since",
)


@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def conversations(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    reach = reach_of(request.user)
    filters = _filters(request, reach)
    found = filters.qs if filters.is_valid() else Conversation.objects.none()
    page = read_page(request, found, moment="last_activity_at")
    titles = titles_for(user=staff_of(request), ids={row.pk for row in page.rows}, now=now)
    context = frame_context(request, now=now, title=TITLE, subtitle=PURPOSE)
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows, sees_effects=holds(request.user, RightName.READ_EFFECTS), titles=titles),
        "form": filters.form,
        "groups": filter_groups(request.GET, now=now),
        "clear": reverse("console:conversations"),
        "csv": _csv_url(request),
        "typed": [name for name in TYPED if name in filters.filters],
        "widen": [("Every conversation", reverse("console:conversations"))],
        "shows_realms": reach.spans_realms,
        "kept": kept(request.GET, LINKED),
    }
    return render(request, "console/conversations/list.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_CONVERSATIONS)
def conversations_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the whole filtered list. The row in the access log stands before the first line leaves."""
    reach = reach_of(request.user)
    filters = _filters(request, reach)
    if not filters.is_valid():
        raise BadRequest("a filter of this list cannot be read")
    log_list_export(request, "conversations")
    sees_effects = holds(request.user, RightName.READ_EFFECTS)
    rows = reading_rows(reach, lambda: csv_rows(filters.qs, sees_effects=sees_effects))
    return csv_answer(name="conversations", header=CSV_HEADER, rows=rows)


def _filters(request: HttpRequest, reach: Reach) -> ListedConversationFilter:
    """Words of titles are words that were said: only who may read texts can ask for them."""
    filters = ListedConversationFilter(request.GET, queryset=listed(reach))
    if not holds(request.user, RightName.READ_BODIES):
        del filters.filters["title"]
    return filters


def _csv_url(request: HttpRequest) -> str:
    if not holds(request.user, RightName.EXPORT):
        return ""
    return reverse("console:conversations-csv") + without(request.GET)
