"""What beat wakes: a run for every realm once a day, over the processor's own lists; and alerts.

A run covers yesterday (UTC) and the days before on which something may have waited until now for
the other side: what was not late in one night's run is judged in the next.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, time, timedelta
from math import ceil
from uuid import UUID

import structlog
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import Realm
from jobs.models import JobRun
from jobs.services.starting import OverlapError
from ledger.models import ReconciliationRun, ToolEffect
from ledger.processors import STRIPE, adapter_for
from ledger.processors.protocol import ProcessorUnreachableError
from ledger.reconciliation import alerts
from ledger.reconciliation.policies import waiting_of
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.running import begun, done_until, work_items
from ledger.statements.pulling import pull_statement

log = structlog.get_logger(__name__)
type Clock = Callable[[], datetime]


def start_daily_runs(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Pull the movements of the last days for each realm with effects and queue its run."""
    actor = Actor(ActorKind.JOB, str(run_id))
    realms = {realm.pk: realm for realm in _realms()}
    # A run that is taken up again past midnight is still that night's.
    started = JobRun.objects.filter(pk=run_id).values_list("started_at", flat=True).first()
    night = started or clock()
    return work_items(
        run_id=run_id,
        items=lambda run: _behind(run, realms),
        read=int,
        act=lambda key, now: _start(realms[key], is_home=key == min(realms), actor=actor, now=night),
        step="realms",
        clock=clock,
    )


def _behind(run: JobRun, realms: Iterable[int]) -> list[int]:
    """Return the realms in their order, without those that the run is done with."""
    done = int(done_until(run) or 0)
    return [key for key in sorted(realms) if key > done]


def send_due_alerts(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Write alerts for what failed or is overdue, and send all that are due."""
    now = clock()
    alerts.alert_of_failures(now=now)
    alerts.alert_if_overdue(now=now)
    return work_items(
        run_id=run_id,
        items=lambda run: alerts.due_alerts(now=begun(run)),
        read=UUID,
        act=lambda pk, moment: alerts.send_alert(alert_id=pk, now=moment),
        step="alerts",
        clock=clock,
    )


def _realms() -> Iterator[Realm]:
    """Realms with effects of the processor.

    All share its one account: each sees the whole list, and a movement that no realm knows would be
    a finding of every one. So only the oldest (the first made) judges those.
    """
    with_effects = ToolEffect.objects.filter(processor=STRIPE).order_by().values("realm_id").distinct()
    yield from Realm.objects.filter(pk__in=with_effects).order_by("pk")


def _covered(realm: Realm) -> timedelta:
    """Return yesterday and as many days as a difference may wait."""
    waits = waiting_of(realm.pk).for_the_other_side
    return timedelta(days=1 + ceil(waits / timedelta(days=1)))


def _has_started(realm: Realm, actor: Actor) -> bool:
    """Whether this night's run is there: a worker that died behind it leaves the realm in hand."""
    asked = ReconciliationRun.objects.filter(realm=realm, processor=STRIPE, repeats=None)
    return asked.filter(requested_by_kind=actor.kind, requested_by_id=actor.id).exists()


def _start(realm: Realm, *, is_home: bool, actor: Actor, now: datetime) -> str:
    if adapter_for(STRIPE) is None:
        return "not_configured"
    if _has_started(realm, actor):
        return "started"
    until = datetime.combine(now.astimezone(UTC).date(), time(), tzinfo=UTC)
    try:
        pulled = pull_statement(
            realm=realm,
            processor=STRIPE,
            since=until - _covered(realm),
            until=until,
            actor=actor,
            now=now,
        )
        asked = Asked(
            realm=realm, processor=STRIPE, statement_ids=[pulled.statement.pk], judges_unknown=is_home
        )
        start_reconciliation(asked=asked, actor=actor, now=now)
    except ProcessorUnreachableError as error:
        log.warning("statement not pulled", realm=realm.slug, error=str(error))
        return "unreachable"
    except OverlapError:
        return "already_running"
    return "started"
