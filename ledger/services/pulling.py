"""Pulling a time window of the processor's events: heals whatever webhooks missed.

The same door as a webhook's: an event that came already is known by its id. Windows overlap,
so that nothing falls between two pulls.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from jobs.models import JobRun, RunState
from ledger.processors import adapter_for
from ledger.services import events
from ledger.services.sending import refuse_inside_transaction
from ledger.vocabulary import EvidenceSource

# The first pull of a new installation, and how far back a late event may be found.
FIRST_WINDOW = timedelta(days=3)
OVERLAP = timedelta(minutes=30)
KIND = "ledger.pull"


def pull(*, processor: str, since: datetime, until: datetime, now: datetime) -> dict[str, int]:
    """Take in the events of a window and work on the new ones; return how many were seen and new.

    Must not run inside a transaction. Safe to repeat.
    """
    refuse_inside_transaction()
    counts = {"seen": 0, "new": 0}
    for taken in take_in_window(processor=processor, since=since, until=until, now=now):
        counts["seen"] += 1
        if taken.is_new:
            counts["new"] += 1
            events.work_event(event_id=taken.event.pk, now=now)
    return counts


def unheard_events(*, processor: str, since: datetime, until: datetime, now: datetime) -> Iterator[UUID]:
    """Take in the window's events one by one; give the keys of those that nobody has worked on yet.

    No webhook had brought them, or whoever took them in died before working on them.
    """
    for taken in take_in_window(processor=processor, since=since, until=until, now=now):
        if taken.event.attempts == 0:
            yield taken.event.pk


def take_in_window(
    *, processor: str, since: datetime, until: datetime, now: datetime
) -> Iterator[events.TakenIn]:
    """Take in every event of the window; none where the processor is not configured."""
    adapter = adapter_for(processor)
    if adapter is None:
        return
    for place, event in enumerate(adapter.events(since=since, until=until)):
        yield events.take_in_event(
            processor=processor,
            body=events.as_body(event),
            now=now,
            source=EvidenceSource.EVENTS,
            place=place,
        )


def window(*, now: datetime) -> tuple[datetime, datetime]:
    """Return what the next pull covers: from the last one that came to its end, with an overlap."""
    last = (
        JobRun.objects.filter(kind=KIND, state=RunState.SUCCEEDED, started_at__isnull=False)
        .order_by("-started_at")
        .values_list("started_at", flat=True)
        .first()
    )
    return (last - OVERLAP if last else now - FIRST_WINDOW), now
