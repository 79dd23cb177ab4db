"""One kind of job, as the proof of killed workers sees it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from jobs.models import JobRun


@dataclass(frozen=True, slots=True)
class Story:
    """`begin` makes a world of its own and queues the job; `outcome` says what must be equal in the end.

    `forget` clears the world away, so that the next one begins as this one did.
    """

    name: str
    begin: Callable[[], JobRun]
    work: Callable[[UUID], object]
    outcome: Callable[[JobRun], Any]
    forget: Callable[[], None] = lambda: None
