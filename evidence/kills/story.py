"""One kind of job, as the proof of killed workers sees it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from jobs.models import JobRun
from jobs.services.steering import free_abandoned

_AFTER_ANY_LEASE = timedelta(days=3650)


def end_the_lease(job: JobRun) -> int:
    """Let the sweeper free what the dead held; return how many runs it freed.

    The run's attempts begin anew, as their limit is not what is tried here.
    """
    JobRun.objects.filter(pk=job.pk).update(attempt=0)
    return free_abandoned(now=datetime.now(UTC) + _AFTER_ANY_LEASE)["freed"]


@dataclass(frozen=True, slots=True)
class Story:
    """`begin` makes a world of its own and queues the job; `outcome` says what must be equal in the end.

    `free` is what time brings after workers have died. `forget` clears the world away, so that the next
    one begins as this one did.
    """

    name: str
    begin: Callable[[], JobRun]
    work: Callable[[UUID], object]
    outcome: Callable[[JobRun], Any]
    forget: Callable[[], None] = lambda: None
    free: Callable[[JobRun], int] = end_the_lease
