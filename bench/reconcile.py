"""Reconciling 10,000, 100,000 and 1,000,000 effects: import of the statement, run, report.

Each size is a month of charges of its own realm, all of which tie out but for one in a hundred that
the processor lacks; a realm that is there is used again. `--sizes=10000,100000` chooses, `--full` adds
the million. The verdict: an effect costs no more than half as much again at the largest size as at the
smallest.
"""

import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from evidence.month import END, START, Month
from evidence.month_report import as_report

if TYPE_CHECKING:
    from ledger.models import ReconciliationRun

SIZES = (10_000, 100_000)
FULL = 1_000_000
CUT_OFF = END + timedelta(days=2)
MOST = 1.5


def main(arguments: list[str]) -> int:
    sizes = list(SIZES)
    for argument in arguments:
        if argument.startswith("--sizes="):
            sizes = [int(size) for size in argument.partition("=")[2].split(",")]
    if "--full" in arguments:
        sizes.append(FULL)
    costs = [measure(size) for size in sizes]
    ratio = costs[-1] / costs[0]
    verdict = "linear" if ratio <= MOST else "NOT LINEAR"
    print(f"{sizes[-1]:,} effects cost {ratio:.2f} × as much each as {sizes[0]:,}: {verdict}")
    return 0 if ratio <= MOST else 1


def measure(size: int) -> float:
    """Reconcile a month of so many effects; return the microseconds that each cost."""
    from ledger.models import ReconciliationRun
    from ledger.reconciliation.running import reconcile

    statement_id, lines, imported = _statement(size)
    run = _start(statement_id)
    began, worked = time.monotonic(), time.process_time()
    job = reconcile(run_id=run.job_id, clock=lambda: CUT_OFF) if run.job_id else None
    took, worked = time.monotonic() - began, time.process_time() - worked
    if job is None or job.state != "succeeded":
        sys.exit(f"the run of {size:,} effects ended as {job.state if job else 'nothing'}")
    found = ReconciliationRun.objects.get(pk=run.pk).sightings.count()
    each = took * 1e6 / size
    how = f"{lines / imported:,.0f} lines/s in" if imported else "imported before"
    # What the worker itself computed, which other work on the machine does not change.
    own = worked * 1e6 / size
    print(
        f"{size:>9,} effects: run {took:7.1f} s, {each:6.0f} µs each, {own:.0f} of them the worker's;"
        f" {lines:,} lines, {how}; {found:,} found"
    )
    return each


def _statement(size: int) -> tuple[UUID, int, float]:
    """Give the month's statement; its effects and its import are made once."""
    from access.actors import Actor, ActorKind
    from access.models import Realm
    from conversations.services.accounts import ensure_account
    from ledger.models import Statement
    from ledger.statements.importing import Told, import_statement

    known = Statement.objects.filter(realm__slug__startswith=f"{_slug(size)}-").first()
    if known is not None:
        return known.pk, known.line_count, 0.0
    # A month that was interrupted while it was made stays as it is: this is another attempt.
    attempt = Realm.objects.filter(slug__startswith=f"{_slug(size)}-").count() + 1
    slug = f"{_slug(size)}-{attempt}"
    realm = Realm.objects.create(slug=slug, name=slug, created_at=START)
    accounts = [ensure_account(realm=realm, external_id=f"c-{n}", now=START).pk for n in range(200)]
    month = Month(realm_id=realm.pk, account_ids=accounts, seed=size * 100 + attempt)
    for number in range(size):
        if number % 100:
            month.charge()
        else:
            month.apply(month.begin())
        month.write_if_full()
    month.write()
    _settle()
    began = time.monotonic()
    imported = import_statement(
        realm=realm,
        file=as_report(month.lines),
        told=Told(name=f"{slug}.csv", period_start=START, period_end=END),
        actor=Actor(ActorKind.IMPORTER, "bench"),
        now=CUT_OFF,
    )
    return imported.statement.pk, imported.statement.line_count, time.monotonic() - began


def _slug(size: int) -> str:
    return f"bench-reconcile-{size}"


def _start(statement_id: UUID) -> "ReconciliationRun":
    from access.actors import Actor, ActorKind
    from ledger.models import Statement
    from ledger.reconciliation.starting import Asked, start_reconciliation

    realm = Statement.objects.select_related("realm").get(pk=statement_id).realm
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement_id], cut_off=CUT_OFF)
    return start_reconciliation(asked=asked, actor=Actor(ActorKind.JOB, "bench"), now=CUT_OFF)


def _settle() -> None:
    """Leave the tables as a quiet night would: visible pages, fresh statistics."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        for table in ("ledger_tooleffect", "ledger_effectmove", "ledger_effectreference"):
            cursor.execute(f"VACUUM (ANALYZE) {table}")
