"""What beat and pages wake: each task is a job's kind."""

from uuid import UUID

from celery import shared_task

from retention.purging.job import PURGE
from retention.purging.job import purge as work_purge


@shared_task(name=PURGE)
def purge(run_id: str) -> None:
    work_purge(run_id=UUID(run_id))
