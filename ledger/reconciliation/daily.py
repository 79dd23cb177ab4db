"""What beat wakes: a run for every realm once a day, over the processor's own lists; and alerts.

A run covers yesterday (UTC) and the days before on which something may have waited until now for
the other side: what was not late in one night's run is judged in the next.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from math import ceil
from uuid import UUID

import structlog
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import Realm
from jobs.models import JobRun
from jobs.services.starting import OverlapError
from ledger.models import ToolEffect
from ledger.processors import STRIPE, adapter_for
from ledger.processors.protocol import ProcessorUnreachableError
from ledger.reconciliation import alerts
from ledger.reconciliation.policies import waiting_of
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.running import work_items
from ledger.statements.pulling import pull_statement

log = structlog.get_logger(__name__)
type Clock = Callable[[], datetime]


def start_daily_runs(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Pull the movements of the last days for each realm with effects and queue its run."""
    now = clock()
    actor = Actor(ActorKind.JOB, str(run_id))
    realms = {realm.pk: realm for realm in _realms()}
    return work_items(
        run_id=run_id,
        items=list(realms),
        act=lambda key, moment: _start(realms[key], is_home=key == min(realms), actor=actor, now=now),
        step="realms",
        clock=clock,
    )


def send_due_alerts(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Write alerts for what failed or is overdue, and send all that are due."""
    now = clock()
    alerts.alert_of_failures(now=now)
    alerts.alert_if_overdue(now=now)
    return work_items(
        run_id=run_id,
        items=alerts.due_alerts(now=now),
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


def _start(realm: Realm, *, is_home: bool, actor: Actor, now: datetime) -> str:
    if adapter_for(STRIPE) is None:
        return "not_configured"
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
