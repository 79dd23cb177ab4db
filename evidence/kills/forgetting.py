"""Answers that the API has kept for long enough, among some that it has not."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from access.actors import Actor, ActorKind
from access.models import Realm, Scope, StoredAnswer
from access.services.keys import issue_key
from evidence.kills.story import Story
from evidence.month import START
from jobs.models import JobRun
from jobs.services.starting import start_job
from retention.services import forgetting

OLD, YOUNG = 300, 20
NOW = START + timedelta(days=50)


def story(realm: Realm) -> Story:
    issued = issue_key(
        realm=realm,
        application="killed",
        scopes=(Scope.WRITE,),
        actor=Actor(ActorKind.STAFF, "kill"),
        now=START,
    )
    return Story(
        name=forgetting.FORGET,
        begin=lambda: _begin(issued.key.pk),
        work=_work,
        outcome=_outcome,
        forget=lambda: _forget(issued.key.pk),
    )


def _begin(key_id: int) -> JobRun:
    StoredAnswer.objects.bulk_create(
        StoredAnswer(
            api_key_id=key_id,
            idempotency_key=f"request-{number}",
            request_digest=bytes(32),
            claimed_at=NOW - (timedelta(days=3) if number < OLD else timedelta(hours=1)),
            answered_at=NOW,
            status=201,
            body=b"{}",
        )
        for number in range(OLD + YOUNG)
    )
    return start_job(kind=forgetting.FORGET, requested_by=("job", "kill"), now=NOW)


def _work(run_id: UUID) -> None:
    # Small batches, so that there is much to be killed in between.
    forgetting.BATCH = 10
    forgetting.forget_old_answers(run_id=run_id, clock=lambda: NOW)


def _outcome(job: JobRun) -> tuple[Any, ...]:
    left = StoredAnswer.objects.values_list("idempotency_key", flat=True)
    return job.state, job.done, job.counts, sorted(left)


def _forget(key_id: int) -> None:
    StoredAnswer.objects.filter(api_key_id=key_id).delete()
