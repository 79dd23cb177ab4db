"""The purge as a job: its steps in their order, one batch a transaction, the place in the checkpoint.

Detail and bytes go before conversations, rows before the files they name. A
batch that the server's statement timeout stops is tried with fewer rows, and
the run goes on with that size. A run that had rows to take, and took none for
no reason that the page could give, fails.
"""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import timezone
from psycopg.errors import QueryCanceled

from jobs.models import JobRun
from jobs.services.working import Batch, Clock, JobError, add_counts, work
from retention.purging import (
    aging,
    archiving,
    branches,
    conversations,
    generations,
    raw_bodies,
    stripping,
    sweeping,
)
from retention.purging.step import Ask, Step, Taken
from retention.vocabulary import Blocker

PURGE = "retention.purge"

STEPS: tuple[Step, ...] = (
    Step("generation_detail", generations.take, 100),
    Step("tool_payloads", stripping.take_tool_payloads, 100),
    Step("conversation_bytes", stripping.take_all, 100),
    Step("abandoned_branches", branches.take, 50),
    Step("archive", archiving.take, 20),
    Step("raw_bodies", raw_bodies.take_of_conversations, 100),
    Step("conversations", conversations.take, 100),
    Step("raw_bodies_of_nobody", raw_bodies.take_nobodys, 200),
    Step("fragments", sweeping.take_fragments, 500),
    Step("blobs", sweeping.take_blobs, 500),
    Step("files", sweeping.take_doomed_files, 100),
    Step("orphan_files", sweeping.take_orphan_files, 1000),
    Step("access_log", aging.take_access_log, 5000),
    Step("rollups", aging.take_rollups, 5000),
    Step("job_runs", aging.take_job_runs, 5000),
)
LONGEST_PAUSE = 2.0
_EXCUSES = frozenset({*Blocker.values, "active_again"}) - {Blocker.BUSY.value}


def purge(
    *,
    run_id: UUID,
    clock: Clock = timezone.now,
    batch_size: int | None = None,
    load_percent: int | None = None,
) -> JobRun | None:
    """Work through the run's steps; `batch_size` bounds every batch, for tests and small machines.

    Of its time it works `load_percent`, so that live traffic has the rest.
    """
    percent = settings.PURGE_LOAD_PERCENT if load_percent is None else load_percent
    pace = _Pace(percent)

    def batch(run: JobRun, now: datetime) -> Batch:
        pace.rest()
        with pace:
            return _batch(run, now, batch_size=batch_size)

    return work(run_id=run_id, batch=batch, clock=clock)


def _batch(run: JobRun, now: datetime, *, batch_size: int | None) -> Batch:
    place = run.cursor or {"step": 0, "after": None, "limits": {}}
    step = STEPS[place["step"]]
    limits: dict[str, int] = place["limits"]
    limit = min(limits.get(step.name, step.limit), batch_size or step.limit)
    ask = Ask(place["after"], limit, now, run.pk, run.is_dry_run)
    taken, fits = within_the_timeout(step.take, ask)
    if fits < limit:
        limits = {**limits, step.name: fits}
    following: Any = {"step": place["step"], "after": taken.after, "limits": limits}
    if taken.after is None:
        following = {"step": place["step"] + 1, "after": None, "limits": limits}
        if following["step"] == len(STEPS):
            following = None
    counts = {step.name: taken.counts} if taken.counts else {}
    if following is None:
        refuse_an_empty_hand(add_counts(run.counts, counts))
    return Batch(cursor=following, done=taken.counts.get("gone", 0), counts=counts)


def within_the_timeout(take: Callable[[Ask], Taken], ask: Ask) -> tuple[Taken, int]:
    """Take a batch; where the server stops it as too slow, take a quarter; return its size too."""
    limit = ask.limit
    while True:
        try:
            with transaction.atomic():
                return take(Ask(ask.after, limit, ask.now, ask.run_id, ask.is_dry_run)), limit
        except OperationalError as error:
            if not isinstance(error.__cause__, QueryCanceled) or limit == 1:
                raise
            limit = max(1, limit // 4)


def refuse_an_empty_hand(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Raise where a step had rows to take, took none, and nothing stood against them."""
    for step, counted in counts.items():
        excused = sum(counted.get(excuse, 0) for excuse in _EXCUSES)
        if counted.get("due", 0) > excused and not counted.get("gone", 0):
            raise JobError("nothing-gone", f"{counted['due']} were due and none went", place=f"step {step}")


class _Pace:
    """Rests before a batch as long as the last one took, so that it works a share of the time."""

    def __init__(self, percent: int) -> None:
        self._rest_share = (100 - percent) / percent
        self._took = 0.0
        self._began = 0.0

    def rest(self) -> None:
        # Before the first query: no transaction is open on the server yet.
        if self._rest_share and self._took:
            time.sleep(min(self._took * self._rest_share, LONGEST_PAUSE))

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *raised: object) -> None:
        self._took = time.monotonic() - self._began
