"""The statement of an account, to look at, print, or take along as CSV."""

from itertools import islice
from typing import Final
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.addresses import address_of
from access.models.log import AccessAction, TargetKind
from access.permissions import actor_of, holds, requires, staff_of
from access.reach import reach_of
from access.reading import reading_rows, reads_customers
from access.rights import RightName
from access.services.logging import log_access
from console.csv import csv_answer
from console.finance.statement import CSV_HEADER, csv_rows, lines_of, sums_of
from console.frame import frame_context
from console.periods import period_group, read_period
from console.views.accounts import reachable_account
from conversations.models import Account

# A page of paper after page of paper helps nobody: a longer statement is narrowed down or taken as CSV.
MOST: Final = 500


@never_cache
@require_GET
@requires(RightName.READ_EFFECTS)
@reads_customers
def account_statement(request: HttpRequest, account_id: UUID) -> HttpResponse:
    now = timezone.now()
    found = reachable_account(request, account_id)
    period = read_period(request.GET, now=now, days=90)
    with transaction.atomic():
        _log(request, found, AccessAction.OPEN)
        lines = list(islice(lines_of(found.pk, since=period.since, until=period.until), MOST + 1))
    context = frame_context(
        request,
        now=now,
        title=f"Statement of {found.external_id}",
        subtitle="What was taken and given back, in the order of the money, as the processor settled it.",
    )
    context |= {
        "account": found,
        "period": period,
        "groups": [period_group(request.GET)],
        "lines": lines[:MOST],
        "has_more": len(lines) > MOST,
        "sums": [] if len(lines) > MOST else sums_of(lines),
        "csv": _csv_url(request, found, period.query),
    }
    return render(request, "console/finance/statement.html", context)


@require_GET
@requires(RightName.EXPORT)
@requires(RightName.READ_EFFECTS)
def account_statement_csv(request: HttpRequest, account_id: UUID) -> StreamingHttpResponse:
    found = reachable_account(request, account_id)
    period = read_period(request.GET, now=timezone.now(), days=90)
    _log(request, found, AccessAction.EXPORT)
    rows = reading_rows(
        reach_of(staff_of(request)),
        lambda: csv_rows(lines_of(found.pk, since=period.since, until=period.until)),
    )
    return csv_answer(name=f"statement-{found.pk.hex[-8:]}", header=CSV_HEADER, rows=rows)


def _csv_url(request: HttpRequest, found: Account, query: str) -> str:
    if not holds(request.user, RightName.EXPORT):
        return ""
    return f"{reverse('console:account-statement-csv', args=[found.pk])}?{query}"


def _log(request: HttpRequest, found: Account, action: AccessAction) -> None:
    log_access(
        actor=actor_of(request),
        action=action,
        target_kind=TargetKind.STATEMENT,
        target_id=str(found.pk),
        realm_id=found.realm_id,
        account_id=found.pk,
        now=timezone.now(),
        address=address_of(request),
    )
