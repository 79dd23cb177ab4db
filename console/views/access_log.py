"""Who looked at what, and on which ground: for auditors. Reading it leaves no row, exporting it does."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.addresses import address_of
from access.models import AccessEntry
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, requires, staff_of
from access.reach import reach_of
from access.rights import RightName
from access.services.logging import log_access
from console.access_log import (
    CSV_HEADER,
    PAGE_SIZE,
    AccessLogFilter,
    csv_rows,
    filter_groups,
    listed,
    newest_id,
    rows_of,
)
from console.csv import csv_lines
from console.filtering import CURSORS, without
from console.frame import frame_context
from conversations.paging import BadCursorError, page_by_key

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
    try:
        page = page_by_key(
            found,
            moment="at",
            size=PAGE_SIZE,
            after=request.GET.get("after", ""),
            before=request.GET.get("before", ""),
        )
    except BadCursorError as error:
        raise BadRequest(str(error)) from error
    base = without(request.GET)
    joint = "" if base == "?" else "&"
    context = frame_context(request, now=now, title=TITLE, subtitle=PURPOSE) | {
        "rows": rows_of(page.rows),
        "form": filters.form,
        "typed": TYPED,
        "kept": [(name, request.GET[name]) for name in LINKED if request.GET.get(name)],
        "groups": filter_groups(request.GET, now=now),
        "clear": reverse("console:access-log"),
        "is_filtered": bool(set(request.GET) - set(CURSORS)),
        "newer": f"{base}{joint}before={page.newer}" if page.newer else "",
        "older": f"{base}{joint}after={page.older}" if page.older else "",
        "csv": reverse("console:access-log-csv") + base if holds(request.user, RightName.EXPORT) else "",
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
    log_access(
        actor=actor_of(request),
        action=AccessAction.EXPORT,
        target_kind=TargetKind.LIST,
        target_id="access log",
        row_count=entries.count(),
        now=timezone.now(),
        address=address_of(request),
    )
    return StreamingHttpResponse(
        csv_lines(header=CSV_HEADER, rows=csv_rows(entries)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="access-log.csv"'},
    )
