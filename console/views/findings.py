"""The desk of findings: the list with its ageing, and one finding with its history."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.permissions import holds, requires, staff_of
from access.reach import reach_of
from access.reading import reading_rows, reads_customers
from access.rights import RightName
from console.csv import csv_answer
from console.exporting import log_list_export
from console.filtering import without
from console.frame import frame_context
from console.listing import beside, list_context, read_page
from console.reconciling.finding_list import (
    CSV_HEADER,
    FindingFilter,
    csv_rows,
    listed,
    possible_owners,
    rows_of,
    show,
)
from console.reconciling.forms import CommentForm, ResolutionForm
from ledger.models import Finding
from ledger.reconciliation.querysets import ageing, latest_run, shares, waiting_rows

DESK = "console:findings"
"""Where every step leads back to."""


def _filtered(request: HttpRequest) -> FindingFilter:
    query = request.GET.copy()
    query.setdefault("state", "open")
    user = staff_of(request)
    return FindingFilter(query, queryset=listed(reach_of(user)), user=user, now=timezone.now())


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def findings(request: HttpRequest) -> HttpResponse:
    now, user = timezone.now(), staff_of(request)
    reach = reach_of(user)
    filters = _filtered(request)
    page = read_page(
        request,
        filters.qs if filters.is_valid() else Finding.objects.none(),
        moment="first_seen_at",
        is_oldest_first=True,
    )
    latest = latest_run(reach.within("realm_id"))
    every = Finding.objects.filter(reach.within("realm_id"))
    bands = ageing(every, now=now)
    may_settle, may_export = (holds(user, right) for right in (RightName.RESOLVE_FINDINGS, RightName.EXPORT))
    context = frame_context(
        request,
        now=now,
        title="Findings",
        subtitle=(
            "Differences between ledger, processor and conversations that a person must settle. "
            "Nothing is refunded by itself."
        ),
    )
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows, now=now),
        "form": filters.form,
        "bands": bands,
        "currencies": sorted({currency for band in bands for currency in band.amounts}),
        "most": max((band.number for band in bands), default=0),
        "open_count": sum(band.number for band in bands),
        "waiting_count": waiting_rows(latest).count() if latest else 0,
        "shares": shares(every, user_id=user.pk, now=now),
        "latest": latest,
        "may_settle": may_settle,
        "may_ask": holds(user, RightName.REQUEST_COMPENSATION),
        "owners": possible_owners() if may_settle else [],
        "csv": reverse("console:findings-csv") + without(request.GET) if may_export else "",
        # The oldest stand first, so the next page holds newer ones.
        "newer": beside(request.GET, "after", page.older),
        "older": beside(request.GET, "before", page.newer),
        "widen": [("Every open finding", reverse(DESK))],
    }
    return render(request, "console/reconciling/findings.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
def findings_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the filtered list. The row in the access log stands before the first line leaves."""
    filters = _filtered(request)
    if not filters.is_valid():
        raise BadRequest("a filter of this list cannot be read")
    now = timezone.now()
    log_list_export(request, "findings")
    rows = reading_rows(reach_of(staff_of(request)), lambda: csv_rows(filters.qs, now=now))
    return csv_answer(name="findings", header=CSV_HEADER, rows=rows)


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def finding(request: HttpRequest, finding_id: int) -> HttpResponse:
    now, user = timezone.now(), staff_of(request)
    found = listed(reach_of(user)).select_related("first_run", "last_run").filter(pk=finding_id).first()
    if found is None:
        raise Http404("There is no such finding.")
    shown = show(found, now=now)
    context = frame_context(
        request, now=now, title=f"F-{found.pk}, {shown.row.kind.lower()}", subtitle=shown.explained
    )
    context |= {
        "shown": shown,
        "row": shown.row,
        "finding": found,
        "resolution_form": ResolutionForm(),
        "comment_form": CommentForm(),
        "may_settle": holds(user, RightName.RESOLVE_FINDINGS),
        "may_ask": holds(user, RightName.REQUEST_COMPENSATION),
        "owners": possible_owners() if holds(user, RightName.RESOLVE_FINDINGS) else [],
    }
    return render(request, "console/reconciling/finding.html", context)
