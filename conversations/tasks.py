"""What jobs wake in the store. Each task is a job's kind."""

from uuid import UUID

from celery import shared_task

from conversations.replay.job import verify_some
from jobs.services.working import work


@shared_task(name="conversations.verify_replay")
def verify_replay(run_id: str) -> None:
    work(run_id=UUID(run_id), batch=verify_some)
