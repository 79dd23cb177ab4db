"""What beat and the webhooks wake. Each task is a job's kind, but for the one event of a webhook."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from ledger.integrity import verifying
from ledger.reconciliation import daily, running
from ledger.services import duties


@shared_task(name="ledger.work_event")
def work_event(event_id: str) -> None:
    duties.work_one_event(event_id=UUID(event_id), now=timezone.now())


@shared_task(name="ledger.work_events")
def work_events(run_id: str) -> None:
    duties.work_waiting_events(run_id=UUID(run_id))


@shared_task(name="ledger.sweep")
def sweep(run_id: str) -> None:
    duties.sweep_effects(run_id=UUID(run_id))


@shared_task(name="ledger.send_refunds")
def send_refunds(run_id: str) -> None:
    duties.send_due_refunds(run_id=UUID(run_id))


@shared_task(name="ledger.pull")
def pull(run_id: str) -> None:
    duties.pull_missed_events(run_id=UUID(run_id))


@shared_task(name="ledger.reconcile")
def reconcile(run_id: str) -> None:
    running.reconcile(run_id=UUID(run_id))


@shared_task(name="ledger.reconcile_daily")
def reconcile_daily(run_id: str) -> None:
    daily.start_daily_runs(run_id=UUID(run_id))


@shared_task(name="ledger.send_alerts")
def send_alerts(run_id: str) -> None:
    daily.send_due_alerts(run_id=UUID(run_id))


@shared_task(name="ledger.verify_integrity")
def verify_integrity(run_id: str) -> None:
    verifying.verify_integrity(run_id=UUID(run_id))
