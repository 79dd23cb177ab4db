"""What people and the sweeper do to runs: stop, resume, free what was abandoned."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from jobs.models import JobRun, RunState
from jobs.services.starting import OverlapError, wake_later

# A wake-up message may be lost with the broker: one that was not heeded is sent again.
UNHEEDED = timedelta(minutes=2)


@transaction.atomic
def request_stop(*, run_id: UUID, now: datetime) -> JobRun:
    """Ask a run to stop after its current batch; one that nobody works on stops at once."""
    run = JobRun.objects.select_for_update().get(pk=run_id)
    if run.state == RunState.RUNNING:
        run.state = RunState.STOPPING
        run.save(update_fields=["state"])
    elif run.state == RunState.QUEUED:
        run.state, run.finished_at = RunState.STOPPED, now
        run.save(update_fields=["state", "finished_at"])
    return run


@transaction.atomic
def resume(*, run_id: UUID, now: datetime) -> JobRun:
    """Queue a stopped or failed run again; it goes on from its last checkpoint, with its attempts anew.

    One in the foreground stays as it is: its process is gone. Raises OverlapError where
    another run of its kind and scope is active meanwhile.
    """
    run = JobRun.objects.select_for_update().get(pk=run_id)
    if run.is_foreground or run.state not in (RunState.STOPPED, RunState.FAILED):
        return run
    run.state, run.attempt, run.queued_at, run.finished_at = RunState.QUEUED, 0, now, None
    run.error_code = run.error = run.error_place = ""
    columns = ["state", "attempt", "queued_at", "finished_at", "error_code", "error", "error_place"]
    try:
        with transaction.atomic():
            run.save(update_fields=columns)
    except IntegrityError as error:
        other = JobRun.objects.filter(kind=run.kind, scope=run.scope, state__in=RunState.active()).first()
        if other is None:
            raise
        raise OverlapError(other) from error
    wake_later(run)
    return run


@transaction.atomic
def free_abandoned(*, now: datetime) -> dict[str, int]:
    """Queue again what a dead worker held, end what keeps dying, wake what nobody heeded; return counts."""
    expired = list(
        JobRun.objects.select_for_update(skip_locked=True).filter(
            state__in=[RunState.RUNNING, RunState.STOPPING], lease_until__lt=now
        )
    )
    counts = {"freed": 0, "given_up": 0, "woken": 0, "stopped": 0}
    for run in expired:
        counts[_free(run, now)] += 1
    unheeded = Q(state=RunState.QUEUED, queued_at__lt=now - UNHEEDED)
    for run in JobRun.objects.filter(unheeded).exclude(pk__in=[run.pk for run in expired]):
        wake_later(run)
        counts["woken"] += 1
    return counts


def _free(run: JobRun, now: datetime) -> str:
    outcome = "freed"
    if run.state == RunState.STOPPING:
        run.state, run.finished_at, outcome = RunState.STOPPED, now, "stopped"
    elif run.is_foreground:
        run.state, run.finished_at, outcome = RunState.FAILED, now, "given_up"
        run.error_code = "abandoned"
        run.error = "The process that did this is gone: it was killed, or its machine went down."
    elif run.attempt >= run.attempt_limit:
        run.state, run.finished_at, outcome = RunState.FAILED, now, "given_up"
        run.error_code = "keeps-dying"
        run.error = f"The worker died {run.attempt} times; the run was set aside."
        run.error_place = f"cursor {run.cursor}"[:255]
    else:
        run.state, run.queued_at = RunState.QUEUED, now
        wake_later(run)
    run.claim_token = run.lease_until = None
    run.save(
        update_fields=[
            "state",
            "finished_at",
            "error_code",
            "error",
            "error_place",
            "queued_at",
            "claim_token",
            "lease_until",
        ]
    )
    return outcome
