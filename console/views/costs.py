"""Costs of attempts: by day, model, tool, prompt version and account; and the prices they were made by."""

from decimal import Decimal
from typing import Final

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.permissions import holds, requires, staff_of
from access.reach import reach_of
from access.reading import reading_as, reads_customers
from access.rights import RightName
from console.cost_pages.attempts import (
    AttemptFilter,
    filter_groups,
    linked,
    listed,
    page_of_attempts,
    rows_of,
)
from console.cost_pages.sums import Costs, Cut, read_abandoned, read_costs, read_lines
from console.csv import csv_answer
from console.exporting import log_list_export
from console.filtering import filter_group
from console.frame import frame_context
from console.listing import kept, list_context
from console.periods import Period, period_group, read_period
from console.pictures import Column, Picture, draw
from console.quantities import cost_text
from conversations.models import Generation
from conversations.pricing import price_book

_CUTS: Final = (
    (Cut.MODEL, "Model"),
    (Cut.TOOL, "Tool"),
    (Cut.PROMPT, "Prompt version"),
    (Cut.ACCOUNT, "Account"),
)
CSV_HEADER: Final = (
    *("by", "beside", "attempts", "failed", "cost usd", "cost of failed usd", "without a price"),
    *("input tokens", "output tokens"),
)


@never_cache
@require_GET
@requires(RightName.READ_COSTS)
@reads_customers
def costs(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    period, cut = read_period(request.GET, now=now), _cut(request)
    reach = reach_of(staff_of(request))
    found = read_costs(period=period, reach=reach, cut=cut)
    context = frame_context(
        request,
        now=now,
        title="Cost",
        subtitle="What attempts cost, failed ones too. Sums are exact; only this page rounds.",
    )
    may_export = holds(request.user, RightName.EXPORT)
    context |= {
        "period": period,
        "costs": found,
        "whole": linked(found.whole, cut=None, period=period),
        "lines": [linked(line, cut=cut, period=period) for line in found.lines],
        "attempts_url": f"{reverse('console:attempts')}?{period.query}",
        "abandoned": read_abandoned(period=period, reach=reach),
        "cut": cut.value,
        "cut_label": dict(_CUTS)[cut],
        "picture": _picture(found, period),
        "groups": [
            filter_group(query=request.GET, name="by", title="what", options=_CUTS[1:], every="Model"),
            period_group(request.GET),
        ],
        "csv": f"{reverse('console:costs-csv')}?by={cut}&{period.query}" if may_export else "",
    }
    return render(request, "console/costs/costs.html", context)


@never_cache
@require_GET
@requires(RightName.READ_COSTS)
@requires(RightName.READ_CONVERSATIONS)
@reads_customers
def attempts(request: HttpRequest) -> HttpResponse:
    """The attempts behind a number; what they were sent and answered stands in their conversations."""
    now = timezone.now()
    period = read_period(request.GET, now=now)
    filters = AttemptFilter(request.GET, queryset=listed(reach_of(staff_of(request)), period))
    found = filters.qs if filters.is_valid() else Generation.objects.none()
    page = page_of_attempts(found, after=request.GET.get("after", ""), before=request.GET.get("before", ""))
    context = frame_context(
        request,
        now=now,
        title="Attempts",
        subtitle="The attempts behind a number, newest first. What was sealed is known by its totals only.",
    )
    context |= list_context(request.GET, page) | {
        "rows": rows_of(page.rows, user=staff_of(request), now=now),
        "form": filters.form,
        "typed": ("model", "requested", "provider", "prompt", "tool", "account", "realm"),
        "kept": kept(request.GET, _LINKED),
        "groups": filter_groups(request.GET),
        "clear": reverse("console:attempts"),
        "widen": [("Every attempt of the last 30 days", reverse("console:attempts"))],
        "period": period,
    }
    return render(request, "console/costs/attempts.html", context)


_LINKED: Final = ("status", "is_failed", "is_unpriced", "days", "from", "to")


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_COSTS)
def costs_csv(request: HttpRequest) -> StreamingHttpResponse:
    """The sums with all their decimals."""
    period, cut = read_period(request.GET, now=timezone.now()), _cut(request)
    reach = reach_of(staff_of(request))
    with reading_as(reach):
        lines = read_lines(period=period, reach=reach, cut=cut)
    log_list_export(request, "costs", row_count=len(lines))
    rows = (
        (
            *(line.key, line.second, line.attempts, line.failed, line.cost, line.failed_cost),
            *(line.unknown, line.tokens_in, line.tokens_out),
        )
        for line in lines
    )
    return csv_answer(name=f"costs-by-{cut}", header=CSV_HEADER, rows=rows)


@never_cache
@require_GET
@requires(RightName.READ_COSTS)
def prices(request: HttpRequest) -> HttpResponse:
    """Every price rule, so that the id on an attempt leads to its numbers."""
    wanted = request.GET.get("model", "").strip()[:255]
    rules = sorted(
        (rule for rule in price_book().rules.values() if wanted.lower() in rule.id.lower()),
        key=lambda rule: (rule.provider, rule.model, str(rule.valid_from or ""), rule.revision),
    )
    context = frame_context(
        request,
        now=timezone.now(),
        title="Price rules",
        subtitle="US dollars for a million tokens. A rule holds from its day until its model's next one.",
    )
    return render(request, "console/costs/prices.html", context | {"rules": rules, "wanted": wanted})


def _cut(request: HttpRequest) -> Cut:
    given = request.GET.get("by") or Cut.MODEL
    if given not in dict(_CUTS):
        raise BadRequest("costs are cut by model, tool, prompt or account")
    return Cut(given)


def _picture(found: Costs, period: Period) -> Picture | None:
    sums = {day.day: day for day in found.days}
    columns = []
    for day in period.days:
        line = sums.get(day)
        cost, failed = (line.cost, line.failed_cost) if line else (Decimal(0), Decimal(0))
        words = f"{day:%-d %b}: USD {cost_text(cost)}, of it failed {cost_text(failed)}"
        columns.append(
            Column(day, cost - failed, failed, words, f"{reverse('console:costs')}?from={day}&to={day}")
        )
    return draw(columns)
