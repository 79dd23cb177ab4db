"""A worker's side of a run: claim, batches with checkpoints, the end.

A task is three lines: `work(run_id=…, batch=…)`. The batch function writes
within the transaction it is called in and says where the next one begins; its
rows and the checkpoint commit together, or neither does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from jobs.models import JobRun, RunState

LEASE = timedelta(minutes=5)
log = structlog.get_logger(__name__)


class ClaimLostError(Exception):
    """Another worker has the run, or it was freed: what this batch wrote is rolled back."""


class JobError(Exception):
    """A failure that the run's page explains: a code, and the place where it happened."""

    def __init__(self, code: str, explanation: str, *, place: str = "") -> None:
        super().__init__(explanation)
        self.code = code
        self.place = place


@dataclass(slots=True)
class Batch:
    """What one batch did. `cursor` None ends the run; `counts` are added up by step."""

    cursor: Any = None
    done: int = 0
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    total: int | None = None
    report: Mapping[str, Any] | None = None


type BatchFunction = Callable[[JobRun, datetime], Batch]
type Clock = Callable[[], datetime]


def work(
    *, run_id: UUID, batch: BatchFunction, clock: Clock = timezone.now, lease: timedelta = LEASE
) -> JobRun | None:
    """Claim the run and work on it batch by batch to its end; None where there was nothing to claim.

    Goes on from the last checkpoint. In a dry run every batch is rolled back and
    only its counts are kept. A stop that was asked for is heeded between batches.
    """
    run = claim(run_id=run_id, now=clock(), lease=lease)
    if run is None:
        return None
    structlog.contextvars.bind_contextvars(job=run.kind, run=str(run.pk))
    try:
        while run.state == RunState.RUNNING:
            _work_once(run, batch, clock, lease)
    except ClaimLostError:
        log.warning("claim lost", attempt=run.attempt)
        return None
    except JobError as error:
        return fail(run, code=error.code, error=str(error), place=error.place, now=clock())
    except Exception as error:
        log.exception("job failed")
        return fail(
            run, code=type(error).__name__, error=str(error), place=f"cursor {run.cursor}", now=clock()
        )
    finally:
        structlog.contextvars.unbind_contextvars("job", "run")
    return run


def claim(*, run_id: UUID, now: datetime, lease: timedelta = LEASE) -> JobRun | None:
    """Take a queued run; None where another worker has it, or it has ended."""
    token = uuid4()
    claimed = JobRun.objects.filter(pk=run_id, state=RunState.QUEUED).update(
        state=RunState.RUNNING,
        attempt=F("attempt") + 1,
        claim_token=token,
        lease_until=now + lease,
        heartbeat_at=now,
        started_at=Coalesce("started_at", Value(now)),
    )
    return JobRun.objects.get(pk=run_id) if claimed else None


def checkpoint(run: JobRun, done: Batch, *, now: datetime, lease: timedelta = LEASE) -> None:
    """Write down how far the run is; belongs in the batch's own transaction.

    Raises ClaimLostError where the claim is no longer this worker's.
    """
    run.counts = add_counts(run.counts, done.counts)
    run.cursor, run.done = done.cursor, run.done + done.done
    run.total = run.total if done.total is None else done.total
    run.report = run.report if done.report is None else dict(done.report)
    update_claimed(
        run,
        counts=run.counts,
        cursor=run.cursor,
        done=run.done,
        total=run.total,
        report=run.report,
        heartbeat_at=now,
        lease_until=now + lease,
    )
    if done.cursor is None:
        end(run, RunState.SUCCEEDED, now)


def stop_if_asked(run: JobRun, *, now: datetime) -> bool:
    """End the run as stopped where somebody asked for it; tell whether it was. It may be resumed."""
    if not JobRun.objects.filter(pk=run.pk, state=RunState.STOPPING).exists():
        return False
    end(run, RunState.STOPPED, now)
    return True


def fail(run: JobRun, *, code: str, error: str, place: str, now: datetime) -> JobRun:
    """End the run with what went wrong and where; what earlier batches committed stays."""
    try:
        update_claimed(
            run,
            error_code=storable(code)[:128],
            error=storable(error)[:2000],
            error_place=storable(place)[:255],
        )
        end(run, RunState.FAILED, now)
    except ClaimLostError:
        log.warning("claim lost before the failure was written", code=code)
    return run


def add_counts(
    counts: Mapping[str, Mapping[str, int]], more: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    total = {step: dict(counted) for step, counted in counts.items()}
    for step, counted in more.items():
        for name, number in counted.items():
            total.setdefault(step, {})[name] = total.get(step, {}).get(name, 0) + number
    return total


def _work_once(run: JobRun, batch: BatchFunction, clock: Clock, lease: timedelta) -> None:
    if run.is_dry_run:
        with transaction.atomic():
            done = batch(run, clock())
            transaction.set_rollback(True)
        with transaction.atomic():
            checkpoint(run, done, now=clock(), lease=lease)
    else:
        with transaction.atomic():
            done = batch(run, clock())
            checkpoint(run, done, now=clock(), lease=lease)
    if run.state == RunState.RUNNING:
        stop_if_asked(run, now=clock())


def end(run: JobRun, state: RunState, now: datetime) -> None:
    """End a claimed run; ClaimLostError where the claim is no longer this worker's."""
    update_claimed(run, state=state, claim_token=None, lease_until=None, finished_at=now)
    run.state, run.claim_token, run.lease_until, run.finished_at = state, None, None, now


def update_claimed(run: JobRun, **columns: Any) -> None:
    """Write columns of a run that this worker holds; ClaimLostError where it does not."""
    mine = Q(pk=run.pk, claim_token=run.claim_token, state__in=[RunState.RUNNING, RunState.STOPPING])
    if run.claim_token is None or not JobRun.objects.filter(mine).update(**columns):
        raise ClaimLostError(str(run.pk))


def storable(text: str) -> str:
    """An error may quote what no text column holds: a NUL, half of a surrogate pair."""
    return text.encode(errors="replace").decode().replace("\x00", "\ufffd")
