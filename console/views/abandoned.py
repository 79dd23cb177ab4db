"""Charges that nobody is looking at any more: the standing list, its totals by currency and age, its CSV."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
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
from console.frame import frame_context
from console.listing import list_context, read_page
from console.reconciling.abandoned import CSV_HEADER, bands, csv_rows, listed, rows_of


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def abandoned_charges(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    found = listed(reach_of(staff_of(request)))
    page = read_page(request, found, moment="requested_at")
    ages = bands(found, now=now)
    context = frame_context(
        request,
        now=now,
        title="Abandoned charges",
        subtitle="Applied, but no call on the branch that the customer sees has made or used them.",
    )
    may_export = holds(request.user, RightName.EXPORT)
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows),
        "bands": ages,
        "currencies": sorted({currency for band in ages for currency in band.amounts}),
        "csv": reverse("console:abandoned-csv") if may_export else "",
    }
    return render(request, "console/reconciling/abandoned.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
def abandoned_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the list. The row in the access log stands before the first line leaves."""
    reach = reach_of(staff_of(request))
    log_list_export(request, "abandoned")
    rows = reading_rows(reach, lambda: csv_rows(listed(reach)))
    return csv_answer(name="abandoned", header=CSV_HEADER, rows=rows)
