"""Jobs that ask a processor: item by item, each outside any transaction, the checkpoint after it.

`jobs.services.working.work` puts a batch and its checkpoint into one transaction, which is
right for rows and wrong for requests. Here an item commits its own work, which is idempotent.
What is about to be acted on is written down before, what came of it after: a worker that dies in
between leaves the item in hand, and whoever goes on with the run takes that one first, whether or
not it still looks due. So a run acts on each item to its end, and counts it once.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from jobs.models import JobRun
from jobs.services.working import LEASE, Batch, ClaimLostError, checkpoint, claim, fail, stop_if_asked

log = structlog.get_logger(__name__)
# A processor that does not answer so many in a row is left alone until the next run.
PATIENCE = 5
_GIVES_UP_ON = frozenset({"unreachable", "processor_unreachable"})

type Clock = Callable[[], datetime]


def work_items[Item](
    *,
    run_id: UUID,
    items: Callable[[JobRun], Iterable[Item]],
    read: Callable[[str], Item],
    act: Callable[[Item, datetime], str],
    step: str,
    clock: Clock = timezone.now,
    lease: timedelta = LEASE,
) -> JobRun | None:
    """Claim the run, act on each item, count what came of each; None where there was nothing to claim.

    `items` says what the run has to do, and what it has left after a worker died: it must leave out
    what this run was done with, for which `begun` and `done_until` are there. `read` makes an item of
    its text. `act` returns a word, which is counted. A dry run only counts what is due. A stop
    that was asked for is heeded between items.
    """
    run = claim(run_id=run_id, now=clock(), lease=lease)
    if run is None:
        return None
    try:
        _work(run, _in_order(run, items, read), act, step=step, clock=clock, lease=lease)
    except ClaimLostError:
        log.warning("claim lost", job=run.kind)
        return None
    except Exception as error:
        log.exception("job failed", job=run.kind)
        place = f"{step} {_in_hand(run) or 'before the first'}"
        return fail(run, code=type(error).__name__, error=str(error), place=place, now=clock())
    return run


def begun(run: JobRun) -> datetime:
    """When the run was first begun: what was due then is what it works on, however often it is taken up."""
    return run.started_at or run.queued_at


def done_until(run: JobRun) -> str:
    """Return the text of the item that the run was done with last; nothing before the first."""
    return _said(run, "after")


def _in_hand(run: JobRun) -> str:
    return _said(run, "in_hand")


def _said(run: JobRun, name: str) -> str:
    return str(run.cursor.get(name, "")) if isinstance(run.cursor, dict) else ""


def _in_order[Item](
    run: JobRun, items: Callable[[JobRun], Iterable[Item]], read: Callable[[str], Item]
) -> Iterator[Item]:
    """What a dead worker had in hand, then all others."""
    in_hand = _in_hand(run)
    if in_hand:
        yield read(in_hand)
    for item in items(run):
        if str(item) != in_hand:
            yield item


def _work[Item](
    run: JobRun,
    items: Iterable[Item],
    act: Callable[[Item, datetime], str],
    *,
    step: str,
    clock: Clock,
    lease: timedelta,
) -> None:
    unanswered = 0
    for item in items:
        word = "due" if run.is_dry_run else _act(run, item, act, clock, lease)
        unanswered = unanswered + 1 if word in _GIVES_UP_ON else 0
        _checkpoint(run, Batch(cursor={"after": str(item)}, done=1, counts={step: {word: 1}}), clock, lease)
        if stop_if_asked(run, now=clock()):
            return
        if unanswered >= PATIENCE:
            break
    _checkpoint(run, Batch(cursor=None), clock, lease)


def _act[Item](
    run: JobRun, item: Item, act: Callable[[Item, datetime], str], clock: Clock, lease: timedelta
) -> str:
    cursor: dict[str, Any] = {"after": done_until(run), "in_hand": str(item)}
    _checkpoint(run, Batch(cursor=cursor), clock, lease)
    return act(item, clock())


def _checkpoint(run: JobRun, done: Batch, clock: Clock, lease: timedelta) -> None:
    with transaction.atomic():
        checkpoint(run, done, now=clock(), lease=lease)
