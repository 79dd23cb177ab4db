"""Answers that the API kept for callers that ask twice go once nobody asks again."""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from access.services.answers import forget_answers
from jobs.models import JobRun
from jobs.services.working import Batch, Clock, work

FORGET: Final = "retention.forget_answers"
BATCH = 5_000


def forget_old_answers(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    return work(run_id=run_id, batch=_batch, clock=clock)


def _batch(run: JobRun, now: datetime) -> Batch:
    gone = forget_answers(now=now, batch=BATCH)
    return Batch(
        cursor="more" if gone == BATCH else None,
        done=gone,
        counts={"stored answers": {"deleted": gone}} if gone else {},
    )
