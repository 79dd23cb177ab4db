"""Tools: how their calls went over a period, and the calls behind each number."""

from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.permissions import requires, staff_of
from access.reach import reach_of
from access.reading import reads_customers
from access.rights import RightName
from console.frame import frame_context
from console.listing import kept, list_context
from console.periods import Period, period_group, read_period
from console.pictures import Column, Picture, draw
from console.tool_pages.calls import CallFilter, filter_groups, listed, rows_of
from console.tool_pages.paging import page_of_calls
from console.tool_pages.statistics import ToolStatistics, read_statistics
from conversations.models import ToolCall


@never_cache
@require_GET
@requires(RightName.READ_TOOLS)
@reads_customers
def tools(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    period = read_period(request.GET, now=now)
    statistics = read_statistics(period=period, reach=reach_of(staff_of(request)))
    context = frame_context(
        request,
        now=now,
        title="Tools",
        subtitle="How the tools' calls went: errors, time taken, and what succeeded when it was tried again.",
    )
    context |= {
        "period": period,
        "statistics": statistics,
        "picture": _picture(statistics, period),
        "groups": [period_group(request.GET)],
        "calls_url": f"{reverse('console:tool-calls')}?{period.query}",
    }
    return render(request, "console/tools/tools.html", context)


@never_cache
@require_GET
@requires(RightName.READ_TOOLS)
@reads_customers
def tool_calls(request: HttpRequest) -> HttpResponse:
    """The calls behind a number; what they were given and gave back stands in their conversations."""
    now = timezone.now()
    period = read_period(request.GET, now=now)
    filters = CallFilter(request.GET, queryset=listed(reach_of(staff_of(request)), period))
    found = filters.qs if filters.is_valid() else ToolCall.objects.none()
    page = page_of_calls(found, after=request.GET.get("after", ""), before=request.GET.get("before", ""))
    context = frame_context(
        request, now=now, title="Calls of tools", subtitle="The calls behind a number, newest first."
    )
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows, user=staff_of(request), now=now),
        "form": filters.form,
        "typed": ("tool", "error", "slower_than"),
        "kept": kept(request.GET, _LINKED),
        "groups": filter_groups(request.GET),
        "clear": reverse("console:tool-calls"),
        "widen": [("Every call of the last 30 days", reverse("console:tool-calls"))],
        "period": period,
    }
    return render(request, "console/tools/calls.html", context)


_LINKED = ("status", "is_retry", "days", "from", "to")


def _picture(statistics: ToolStatistics, period: Period) -> Picture | None:
    found = {day.day: day for day in statistics.days}
    columns = []
    for day in period.days:
        counted = found.get(day)
        succeeded, failed = (counted.succeeded, counted.failed) if counted else (0, 0)
        words = f"{day:%-d %b}: {succeeded:,} succeeded, {failed:,} failed"
        url = f"{reverse('console:tool-calls')}?from={day}&to={day}"
        columns.append(Column(day, Decimal(succeeded), Decimal(failed), words, url))
    return draw(columns)
