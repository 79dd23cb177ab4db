"""Work of the process that asked for it, as a run: a command at a terminal, and nobody to take it over.

What it works on (a file on somebody's disk, a stream of output) is only there, so the run is
claimed from the start and never queued. A thread with a connection of its own keeps the lease and
writes down how far the work is: the work may hold a transaction open, and is not slowed by its record.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Self
from uuid import UUID, uuid4

import structlog
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from uuid_utils.compat import uuid7

from jobs.models import JobRun, RunState
from jobs.services.working import LEASE, ClaimLostError, end, storable, update_claimed

BEAT: Final = timedelta(seconds=2)
log = structlog.get_logger(__name__)

type Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the work is, as a whole: each replaces what was written before. `counts` are by step."""

    done: int = 0
    total: int | None = None
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    report: Mapping[str, Any] | None = None


type Read = Callable[[], Standing]


def begin_here(
    *,
    kind: str,
    requested_by: tuple[str, str],
    now: datetime,
    parameters: Mapping[str, Any],
    is_dry_run: bool = False,
    unit: str = "",
    lease: timedelta = LEASE,
) -> JobRun:
    """Write down a run that this process is about to do, and claim it. No two of them overlap."""
    run_id = UUID(int=uuid7().int)
    return JobRun.objects.create(
        id=run_id,
        kind=kind,
        # Whether two may go on at once is for the work to know: a killed one must not be waited for.
        scope=str(run_id),
        parameters=dict(parameters),
        requested_by_kind=requested_by[0],
        requested_by_id=requested_by[1],
        is_dry_run=is_dry_run,
        is_foreground=True,
        state=RunState.RUNNING,
        attempt=1,
        attempt_limit=1,
        claim_token=uuid4(),
        lease_until=now + lease,
        heartbeat_at=now,
        unit=unit,
        queued_at=now,
        started_at=now,
    )


class Attendance:
    """What the work asks of its run as it goes on, and says of its end; if it says nothing, it ended well."""

    def __init__(self) -> None:
        self.is_lost = False
        """The lease ran out unnoticed (a suspended machine), and the run was freed as abandoned."""
        self.is_stop_asked = False
        self.outcome = RunState.SUCCEEDED
        self.failure = ("", "", "")

    @property
    def may_go_on(self) -> bool:
        return not (self.is_stop_asked or self.is_lost)

    def stop(self) -> None:
        self.outcome = RunState.STOPPED

    def fail(self, *, code: str, error: str, place: str = "") -> None:
        self.outcome = RunState.FAILED
        self.failure = (code, error, place)


@contextmanager
def attended(
    run: JobRun,
    *,
    read: Read,
    conclude: Read,
    clock: Clock = timezone.now,
    every: timedelta = BEAT,
    lease: timedelta = LEASE,
) -> Iterator[Attendance]:
    """Keep the run alive while the block works, and end it with the block.

    `read` is asked at each beat, from another thread, and has to be quick; `conclude` once, at
    the end. What the block raises fails the run and is raised again; an interrupt from the
    keyboard stops it. Inside a transaction nobody would see a beat, so there is none.
    """
    attendance = Attendance()
    try:
        with _Beats(run, attendance, read=read, clock=clock, every=every, lease=lease):
            yield attendance
    except KeyboardInterrupt:
        attendance.stop()
        raise
    except Exception as error:
        # A database's further lines quote the row, and so perhaps what somebody said.
        first_line = (str(error).splitlines() or [""])[0]
        attendance.fail(code=type(error).__name__, error=first_line)
        raise
    finally:
        _conclude(run, attendance, conclude(), now=clock())


def _conclude(run: JobRun, attendance: Attendance, last: Standing, *, now: datetime) -> None:
    if not connection.in_atomic_block:
        # What ended the work may have been the connection.
        connection.close_if_unusable_or_obsolete()
    code, error, place = attendance.failure
    try:
        with transaction.atomic():
            update_claimed(
                run,
                **_columns(last),
                heartbeat_at=now,
                error_code=storable(code)[:128],
                error=storable(error)[:2000],
                error_place=storable(place)[:255],
            )
            end(run, attendance.outcome, now)
    except ClaimLostError:
        attendance.is_lost = True
        log.warning("claim lost", job=run.kind, run=str(run.pk))


def _columns(standing: Standing) -> dict[str, Any]:
    columns = {"done": standing.done, "total": standing.total, "counts": dict(standing.counts)}
    return columns if standing.report is None else columns | {"report": dict(standing.report)}


class _Beats:
    """The thread that keeps the lease."""

    def __init__(
        self,
        run: JobRun,
        attendance: Attendance,
        *,
        read: Read,
        clock: Clock,
        every: timedelta,
        lease: timedelta,
    ) -> None:
        self._run = run
        self._attendance = attendance
        self._read = read
        self._clock = clock
        self._every = every
        self._lease = lease
        self._is_left = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not connection.in_atomic_block:
            self._thread = threading.Thread(target=self._go_on, name="job-beats", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._is_left.set()
        if self._thread is not None:
            self._thread.join()

    def _go_on(self) -> None:
        try:
            while not self._is_left.wait(self._every.total_seconds()):
                try:
                    self._beat()
                except ClaimLostError:
                    self._attendance.is_lost = True
                    return
                except DatabaseError:
                    # The lease outlasts many beats. If the database stays away, the work itself fails.
                    log.warning("a beat was missed", job=self._run.kind, run=str(self._run.pk))
                    connection.close()
        finally:
            connection.close()

    def _beat(self) -> None:
        now = self._clock()
        update_claimed(self._run, **_columns(self._read()), heartbeat_at=now, lease_until=now + self._lease)
        if JobRun.objects.filter(pk=self._run.pk, state=RunState.STOPPING).exists():
            self._attendance.is_stop_asked = True
