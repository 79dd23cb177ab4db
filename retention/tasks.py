"""What beat and pages wake: each task is a job's kind."""

from uuid import UUID

from celery import shared_task

from retention.erasure.job import ERASE, erase
from retention.purging.job import PURGE, purge
from retention.services.continuing import CONTINUE, continue_erasures
from retention.services.forgetting import FORGET, forget_old_answers


@shared_task(name=PURGE)
def purge_what_is_due(run_id: str) -> None:
    purge(run_id=UUID(run_id))


@shared_task(name=ERASE)
def erase_one_person(run_id: str) -> None:
    erase(run_id=UUID(run_id))


@shared_task(name=CONTINUE)
def continue_what_was_held(run_id: str) -> None:
    continue_erasures(run_id=UUID(run_id))


@shared_task(name=FORGET)
def forget_answers_of_the_api(run_id: str) -> None:
    forget_old_answers(run_id=UUID(run_id))
