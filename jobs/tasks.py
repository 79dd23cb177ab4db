from datetime import timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from jobs.services.starting import start_scheduled
from jobs.services.steering import free_abandoned


@shared_task(name="jobs.sweep")
def sweep() -> dict[str, int]:
    return free_abandoned(now=timezone.now())


@shared_task(name="jobs.start")
def start(kind: str, every_seconds: int, parameters: dict[str, Any] | None = None) -> None:
    start_scheduled(
        kind=kind, every=timedelta(seconds=every_seconds), now=timezone.now(), parameters=parameters or {}
    )
