"""Jobs that ask a processor: item by item, each outside any transaction, the checkpoint after it.

`jobs.services.working.work` puts a batch and its checkpoint into one transaction, which is
right for rows and wrong for requests. Here an item commits its own work, which is idempotent;
the checkpoint follows. A worker that dies in between does the item again, to no effect.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
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
    items: Iterable[Item],
    act: Callable[[Item, datetime], str],
    step: str,
    clock: Clock = timezone.now,
    lease: timedelta = LEASE,
) -> JobRun | None:
    """Claim the run, act on each item, count what came of each; None where there was nothing to claim.

    `act` returns a word, which is counted. A dry run only counts what is due. A stop
    that was asked for is heeded between items.
    """
    run = claim(run_id=run_id, now=clock(), lease=lease)
    if run is None:
        return None
    try:
        _work(run, items, act, step=step, clock=clock, lease=lease)
    except ClaimLostError:
        log.warning("claim lost", job=run.kind)
        return None
    except Exception as error:
        log.exception("job failed", job=run.kind)
        return fail(run, code=type(error).__name__, error=str(error), place=str(run.cursor), now=clock())
    return run


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
        word = "due" if run.is_dry_run else act(item, clock())
        unanswered = unanswered + 1 if word in _GIVES_UP_ON else 0
        _checkpoint(run, Batch(cursor=str(item), done=1, counts={step: {word: 1}}), clock, lease)
        if stop_if_asked(run, now=clock()):
            return
        if unanswered >= PATIENCE:
            break
    _checkpoint(run, Batch(cursor=None), clock, lease)


def _checkpoint(run: JobRun, done: Batch, clock: Clock, lease: timedelta) -> None:
    with transaction.atomic():
        checkpoint(run, done, now=clock(), lease=lease)
