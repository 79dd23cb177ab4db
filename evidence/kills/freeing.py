"""The sweeper itself: it frees what the dead held, ends what keeps dying, and is no run of its own.

What it has not committed the next beat's sweeper does; so the end is that of one that nobody killed.
"""

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import uuid4

from evidence.kills.story import Story
from evidence.month import START
from jobs.models import JobRun, RunState
from jobs.services.steering import free_abandoned

SWEEP = "jobs.sweep"
HELD = 120
ATTEMPTS = 3
# Before any lease of another story's runs.
NOW = START - timedelta(days=1200)


def story() -> Story:
    return Story(
        name=SWEEP,
        begin=_begin,
        work=lambda run_id: free_abandoned(now=NOW),
        outcome=_outcome,
        forget=lambda: _held().delete(),
        # Nobody frees the sweeper: the next beat brings another.
        free=lambda job: 0,
    )


def _begin() -> JobRun:
    """Runs whose workers are dead: some are new to it, some keep dying, some were to stop."""
    states = (RunState.RUNNING, RunState.RUNNING, RunState.STOPPING)
    runs = [
        JobRun(
            id=uuid4(),
            kind=f"held-{number}",
            state=states[number % 3],
            attempt=ATTEMPTS if number % 3 == 1 else 1,
            claim_token=uuid4(),
            lease_until=NOW - timedelta(minutes=1),
            queued_at=NOW - timedelta(hours=1),
            started_at=NOW - timedelta(hours=1),
            requested_by_kind="job",
        )
        for number in range(HELD)
    ]
    JobRun.objects.bulk_create(runs)
    # One that keeps dying: when it is set aside, the sweeper was there.
    return runs[1]


def _held() -> Any:
    return JobRun.objects.filter(kind__startswith="held-")


def _outcome(job: JobRun) -> tuple[Any, ...]:
    ended = Counter(_held().values_list("state", "attempt", "error_code"))
    claimed = _held().exclude(claim_token=None).count()
    return job.state, sorted(ended.items()), claimed
