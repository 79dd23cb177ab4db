"""Who looked at what, and on which ground: for auditors. Reading it leaves no row, exporting it does."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.models import AccessEntry
from access.permissions import holds, requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from console.access_log import (
    CSV_HEADER,
    AccessLogFilter,
    csv_rows,
    filter_groups,
    listed,
    newest_id,
    rows_of,
)
from console.csv import csv_answer
from console.exporting import log_list_export
from console.filtering import without
from console.frame import frame_context
from console.listing import kept, list_context, read_page

TITLE = "Access log"
PURPOSE = (
    "Who opened, revealed, exported or was refused what, and on which ground. Lines are only ever added."
)
TYPED = ("who", "conversation", "account", "since", "until")
LINKED = ("action", "target")


@never_cache
@require_GET
@requires(RightName.READ_ACCESS_LOG)
def access_log(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    filters = AccessLogFilter(request.GET, queryset=listed(reach_of(staff_of(request))))
    found = filters.qs if filters.is_valid() else AccessEntry.objects.none()
    page = read_page(request, found, moment="at")
    may_export = holds(request.user, RightName.EXPORT)
    context = frame_context(request, now=now, title=TITLE, subtitle=PURPOSE)
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows),
        "form": filters.form,
        "typed": TYPED,
        "kept": kept(request.GET, LINKED),
        "groups": filter_groups(request.GET, now=now),
        "clear": reverse("console:access-log"),
        "csv": reverse("console:access-log-csv") + without(request.GET) if may_export else "",
        "widen": [("Every line", reverse("console:access-log"))],
    }
    return render(request, "console/access_log.html", context)


@never_cache
@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_ACCESS_LOG)
def access_log_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the filtered log. The export's own row, with its count, stands before the first line leaves."""
    filters = AccessLogFilter(request.GET, queryset=listed(reach_of(staff_of(request))))
    if not filters.is_valid():
        raise BadRequest("a filter of this list cannot be read")
    entries = filters.qs.filter(id__lte=newest_id(filters.qs))
    log_list_export(request, "access log", row_count=entries.count())
    return csv_answer(name="access-log", header=CSV_HEADER, rows=csv_rows(entries))
