"""The ledger's jobs: what each one works through, and by which service."""

from collections.abc import Callable, Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from access.actors import Actor, ActorKind
from jobs.models import JobRun
from ledger.models import WebhookEvent
from ledger.processors import STRIPE
from ledger.services import events, pulling, refunding, sweeping
from ledger.services.running import begun, done_until, work_items

# One run does so much at most; the next one goes on.
RUN_LIMIT = 1000

type Clock = Callable[[], datetime]


def sweep_effects(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Look at every open effect that is due."""
    actor = Actor(ActorKind.JOB, str(run_id))
    return work_items(
        run_id=run_id,
        items=lambda run: list(sweeping.due(now=begun(run)).values_list("pk", flat=True)[:RUN_LIMIT]),
        read=UUID,
        act=lambda effect_id, now: sweeping.look(effect_id=effect_id, actor=actor, now=now),
        step="effects",
        clock=clock,
    )


def send_due_refunds(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Send approved refunds, and find out about those whose answer is late."""
    actor = Actor(ActorKind.JOB, str(run_id))
    return work_items(
        run_id=run_id,
        items=lambda run: list(refunding.due(now=begun(run)).values_list("pk", flat=True)[:RUN_LIMIT]),
        read=UUID,
        act=lambda pk, now: refunding.send_refund(compensation_id=pk, actor=actor, now=now),
        step="refunds",
        clock=clock,
    )


def work_waiting_events(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Work on events that no worker heard of, and on those whose object has become known since."""
    return work_items(
        run_id=run_id, items=_waiting_events, read=UUID, act=_work_again, step="events", clock=clock
    )


def _waiting_events(run: JobRun) -> list[UUID]:
    """Oldest first, behind what the run is done with: one that goes on waiting is not taken twice."""
    done = done_until(run)
    after = UUID(done) if done else None
    waiting = WebhookEvent.objects.filter(Q(pk__gt=after) if after else Q(), processed_at=None)
    found = set(waiting.order_by("pk").values_list("pk", flat=True)[:RUN_LIMIT])
    found.update(events.find_unmatched_that_match(after=after, most=RUN_LIMIT, now=begun(run)))
    return sorted(found)


def pull_missed_events(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    """Take in what happened since the last pull, and work on what no webhook brought."""
    return work_items(
        run_id=run_id, items=_missed_events, read=UUID, act=_work_pulled, step="events", clock=clock
    )


def _missed_events(run: JobRun) -> Iterator[UUID]:
    since, until = pulling.window(now=begun(run))
    return pulling.unheard_events(processor=STRIPE, since=since, until=until, now=begun(run))


def work_one_event(*, event_id: UUID, now: datetime) -> None:
    """What a webhook wakes; an event that is gone or done is nothing to do."""
    if WebhookEvent.objects.filter(pk=event_id, processed_at=None).exists():
        events.work_event(event_id=event_id, now=now)


def _work_again(event_id: UUID, now: datetime) -> str:
    return events.work_event(event_id=event_id, now=now, is_again=True).trouble or "settled"


def _work_pulled(event_id: UUID, now: datetime) -> str:
    """Go on where an event has to be asked about and nobody answers: it is kept, and waits.

    To give up here would leave the rest of the window, which the next pull begins behind, to nobody.
    """
    word = _work_again(event_id, now)
    return "waiting" if word == events.UNREACHABLE else word
