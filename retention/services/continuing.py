"""Requests that were only partly done go on by themselves once nothing is held any more."""

from datetime import datetime
from uuid import UUID

from django.utils import timezone

from access.actors import Actor, ActorKind
from jobs.models import JobRun
from jobs.services.starting import OverlapError
from jobs.services.working import Batch, Clock, work
from retention.erasure.subject import read_subject
from retention.models import ErasureRequest
from retention.services.erasing import run_again
from retention.vocabulary import RequestState

CONTINUE = "retention.continue_erasures"
BEAT = Actor(ActorKind.JOB, "beat")


def continue_erasures(*, run_id: UUID, clock: Clock = timezone.now) -> JobRun | None:
    return work(run_id=run_id, batch=_batch, clock=clock)


def _batch(run: JobRun, now: datetime) -> Batch:
    """Start every request again that nothing stands against; those that are held wait."""
    counts = {"started": 0, "held": 0, "running": 0}
    for request in ErasureRequest.objects.filter(state=RequestState.PARTLY_DONE).order_by("due_at"):
        subject = read_subject(request=request, now=now, run_id=run.pk)
        if subject.blocked or subject.held_accounts:
            counts["held"] += 1
            continue
        try:
            run_again(request_id=request.pk, actor=BEAT, now=now)
            counts["started"] += 1
        except OverlapError:
            counts["running"] += 1
    told = {name: number for name, number in counts.items() if number}
    return Batch(done=counts["started"], counts={"requests": told} if told else {})
