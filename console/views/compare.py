"""Two branches of a conversation, side by side."""

from datetime import datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, requires, staff_of
from access.reading import reads_customers
from access.rights import RightName
from console.csv import csv_lines
from console.frame import frame_context
from console.opening import Opening, log_opening, opening_for
from console.thread.compare import MOST_SHOWN, Comparison, read_comparison
from console.thread.compare_csv import HEADER, csv_rows
from console.thread.context import sight_of
from console.titles import title_of
from console.views.conversation import number_in, reachable
from conversations.models import Conversation

# What a spreadsheet still opens in a moment; a branch of more is told to be cut.
MOST_IN_CSV: Final = 5000


@never_cache
@require_GET
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def compare(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    now = timezone.now()
    found = reachable(request, conversation_id)
    comparison, opening = _read(request, found, now, AccessAction.OPEN, most=MOST_SHOWN)
    title = title_of(found, is_open=opening.is_open)
    fork = f"From the fork after #{comparison.fork}" if comparison.fork else "From their roots"
    context = frame_context(request, now=now, title="Compare two branches", subtitle=f"{title}. {fork}.")
    context |= {
        "conversation": found,
        "conversation_title": title,
        "comparison": comparison,
        "sides": [comparison.a, comparison.b],
        "opening": opening,
        "sight": sight_of(request, found, opening),
        "shows_effects": holds(request.user, RightName.READ_EFFECTS),
        "csv": _csv_url(request, comparison),
        "swap": f"?{urlencode({'a': comparison.b.leaf, 'b': comparison.a.leaf})}",
        "others": _others(comparison),
        "less": _less(comparison),
    }
    return render(request, "console/conversation/compare.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def compare_csv(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Both branches as a table; texts are in it where the conversation is open."""
    found = reachable(request, conversation_id)
    comparison, _ = _read(request, found, timezone.now(), AccessAction.EXPORT, most=MOST_IN_CSV)
    rows = csv_rows(comparison, sees_effects=holds(request.user, RightName.READ_EFFECTS))
    name = f"compare-{found.pk.hex[-8:]}-{comparison.a.leaf}-{comparison.b.leaf}.csv"
    return HttpResponse(
        csv_lines(header=HEADER, rows=rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _read(
    request: HttpRequest, found: Conversation, now: datetime, action: AccessAction, *, most: int
) -> tuple[Comparison, Opening]:
    """Read the two branches that were named, and write it down, in one transaction."""
    a, b = number_in(request, "a"), number_in(request, "b")
    if a is None or b is None:
        raise BadRequest("two branches are named by `a` and `b`")
    with transaction.atomic():
        opening = opening_for(user=staff_of(request), conversation=found, now=now)
        comparison = read_comparison(conversation=found, opening=opening, a=a, b=b, most=most)
        if comparison is None:
            raise Http404("These are not two branches of this conversation.")
        log_opening(
            opening=opening,
            actor=actor_of(request),
            conversation=found,
            now=now,
            address=address_of(request),
            action=action,
            target_kind=TargetKind.CONVERSATION if opening.is_open else TargetKind.PAGE,
            target_id=f"{found.pk}#{comparison.a.leaf}~{comparison.b.leaf}",
        )
    return comparison, opening


def _csv_url(request: HttpRequest, comparison: Comparison) -> str:
    if not holds(request.user, RightName.EXPORT):
        return ""
    address = reverse("console:compare-csv", args=[comparison.conversation.pk])
    return f"{address}?{urlencode({'a': comparison.a.leaf, 'b': comparison.b.leaf})}"


def _others(comparison: Comparison) -> list[tuple[int, str]]:
    """The newest other branches, each to stand in the place of A."""
    newest = comparison.others[-8:][::-1]
    return [(leaf, f"?{urlencode({'a': leaf, 'b': comparison.b.leaf})}") for leaf in newest]


def _less(comparison: Comparison) -> dict[str, object]:
    """B less A, for what can be subtracted."""
    a, b = comparison.a, comparison.b
    return {
        "messages": b.messages - a.messages,
        "attempts": b.attempts.attempts - a.attempts.attempts,
        "failed": b.attempts.failed - a.attempts.failed,
        "input": b.attempts.input_tokens - a.attempts.input_tokens,
        "output": b.attempts.output_tokens - a.attempts.output_tokens,
        "cost": b.attempts.cost_usd - a.attempts.cost_usd,
    }
