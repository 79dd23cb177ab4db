"""A run is asked for: by a person, by another service, or by beat."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from celery import current_app
from django.db import IntegrityError, transaction
from psycopg import Error as DriverError
from uuid_utils.compat import uuid7

from jobs.models import JobRun, RunState


class OverlapError(Exception):
    """A run of this kind and scope is active already; `run` is that one."""

    def __init__(self, run: JobRun) -> None:
        super().__init__(f"{run.kind} is already {run.state}" + (f" for {run.scope}" if run.scope else ""))
        self.run = run


@transaction.atomic
def start_job(
    *,
    kind: str,
    requested_by: tuple[str, str],
    now: datetime,
    scope: str = "",
    parameters: Mapping[str, Any] | None = None,
    reason: str = "",
    is_dry_run: bool = False,
    total: int | None = None,
    unit: str = "",
    scheduled_for: datetime | None = None,
) -> JobRun:
    """Queue a run and wake a worker once this transaction has committed.

    `requested_by` is an actor's kind and id. Raises OverlapError where a run of
    the same kind and scope is active.
    """
    run = JobRun(
        id=UUID(int=uuid7().int),
        kind=kind,
        scope=scope,
        parameters=dict(parameters or {}),
        requested_by_kind=requested_by[0],
        requested_by_id=requested_by[1],
        reason=reason,
        is_dry_run=is_dry_run,
        scheduled_for=scheduled_for,
        state=RunState.QUEUED,
        total=total,
        unit=unit,
        queued_at=now,
    )
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError as error:
        if not _is_overlap(error):
            raise
        raise OverlapError(_other_run(run)) from error
    wake_later(run)
    return run


def start_scheduled(
    *, kind: str, every: timedelta, now: datetime, parameters: Mapping[str, Any]
) -> JobRun | None:
    """Start the run that is due at this beat, or None where it was started or another one is active.

    Two beats of one interval have the same `scheduled_for`, so the second finds the first's run.
    """
    try:
        return start_job(
            kind=kind,
            requested_by=("job", "beat"),
            now=now,
            parameters=parameters,
            scheduled_for=beat_of(now=now, every=every),
        )
    except OverlapError:
        return None


def beat_of(*, now: datetime, every: timedelta) -> datetime:
    """Return the beginning of the interval that `now` falls in, counted from the epoch."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (now - epoch) // every * every


def wake_later(run: JobRun) -> None:
    """Wake a worker once this transaction has committed.

    With the broker away the run stays queued, and whoever started it is told of no
    error: the sweeper sends the message again.
    """
    transaction.on_commit(partial(wake, run), robust=True)


def wake(run: JobRun) -> None:
    """Tell a worker that the run waits. A message that is lost is sent again by the sweeper."""
    current_app.send_task(run.kind, args=[str(run.pk)], retry=False)


def _is_overlap(error: IntegrityError) -> bool:
    cause = error.__cause__
    return isinstance(cause, DriverError) and cause.diag.constraint_name in (
        "jobs_jobrun_one_active_per_scope",
        "jobs_jobrun_once_per_beat",
    )


def _other_run(run: JobRun) -> JobRun:
    others = JobRun.objects.filter(kind=run.kind, scope=run.scope)
    active = others.filter(state__in=RunState.active()).first()
    if active is not None:
        return active
    return others.filter(scheduled_for=run.scheduled_for).latest("queued_at")
