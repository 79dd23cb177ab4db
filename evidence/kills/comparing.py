"""The nightly job, which pulls statements from the processor and starts runs; and a run over one of those."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

from access.actors import Actor, ActorKind
from evidence.crashes.stories import World
from evidence.kills.paying import DAY, HOUR, MINUTE, Shop, in_a_process, turn
from evidence.kills.reading import outcome_of_reading
from evidence.kills.story import Story, end_the_lease
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import ReconciliationRun, Statement, StatementLine
from ledger.processors import STRIPE
from ledger.reconciliation.daily import start_daily_runs
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import KIND, Asked, start_reconciliation
from ledger.statements.pulling import pull_statement

DAILY = "ledger.reconcile_daily"
# How the proof names a run whose statement comes through the API.
PULLED = f"{KIND} of pulled movements"
CUSTOMERS, LINES = 6, 2
FINANCE = Actor(ActorKind.STAFF, "kill")
# Behind what a night's run covers: no day of another round is in it.
APART = 4 * DAY


@dataclass
class Nights:
    """One night after the other, each with a day's purchases of its own."""

    world: World
    begun: list[datetime] = field(default_factory=list)

    def story(self) -> Story:
        return Story(
            name=DAILY,
            begin=self._begin,
            work=lambda run_id: start_daily_runs(run_id=run_id, clock=self.world.now),
            outcome=self._outcome,
            forget=self._finish,
            free=self._free,
        )

    def _begin(self) -> JobRun:
        live_a_day(self.world)
        self.begun.append(self.world.now())
        return start_job(kind=DAILY, requested_by=("job", "kill"), now=self.world.now())

    def _free(self, job: JobRun) -> int:
        turn(self.world, 6 * MINUTE)
        return end_the_lease(job)

    def _outcome(self, job: JobRun) -> tuple[Any, ...]:
        """Each realm has one run, over one statement, with a line for each movement of the day."""
        runs = ReconciliationRun.objects.filter(requested_by_id=str(job.pk)).order_by("realm_id")
        told = [(run.realm.slug, run.judges_unknown, _lines(run)) for run in runs.select_related("realm")]
        pulled = Statement.objects.filter(imported_at__gte=self.begun[-1]).count()
        queued = JobRun.objects.filter(kind=KIND, queued_at__gte=self.begun[-1]).count()
        return job.state, job.done, job.counts, told, pulled, queued

    def _finish(self) -> None:
        for job in JobRun.objects.filter(kind=KIND, finished_at=None, queued_at__gte=self.begun[-1]):
            done = reconcile(run_id=job.pk, clock=self.world.now)
            if done is None or done.state != "succeeded":
                raise LookupError("a run of the night came to no end")


def pulled_story(world: World) -> Story:
    """A run over what the processor's lists say of a day: one statement, compared again and again."""
    live_a_day(world)
    until = _midnight(world.now())
    since = until - timedelta(seconds=2 * DAY)
    now = world.now()
    in_a_process(
        lambda: pull_statement(
            realm=world.realm, processor=STRIPE, since=since, until=until, actor=FINANCE, now=now
        )
    )
    statement = Statement.objects.get(realm=world.realm, period_end=until)
    asked = Asked(realm=world.realm, processor=STRIPE, statement_ids=[statement.pk], cut_off=now)
    return Story(
        name=PULLED,
        begin=lambda: _start(asked, now),
        work=lambda job_id: reconcile(run_id=job_id, lines_at_once=LINES),
        outcome=outcome_of_reading,
    )


def live_a_day(world: World) -> None:
    """Purchases of one day, a refund, and what nobody knows of; then it is the next morning."""
    turn(world, APART)
    shop = Shop(world, world.now())
    for _ in range(CUSTOMERS):
        shop.buys()
    charge = shop.charge_of(shop.purchases[0])
    world.processor.pull("refunds", {"charge": charge, "amount": 500})
    shop.buys_unheard()
    turn(world, int((_midnight(world.now()) - world.now()).total_seconds()) + DAY + 5 * HOUR)


def _start(asked: Asked, now: datetime) -> JobRun:
    run = start_reconciliation(asked=asked, actor=FINANCE, now=now)
    return JobRun.objects.get(parameters__run=str(run.pk))


def _lines(run: ReconciliationRun) -> Sequence[tuple[str, str, int | None]]:
    statements = run.inputs.values_list("statement_id", flat=True)
    lines = StatementLine.objects.filter(statement_id__in=list(statements))
    return sorted(lines.values_list("kind", "status", "amount_minor"))


def _midnight(now: datetime) -> datetime:
    """Of the day that has just begun."""
    return datetime.combine(now.astimezone(UTC).date(), time(), tzinfo=UTC)
