"""What beat wakes, and how often: the one place where the schedule is written.

Each entry names a Celery task by its dotted path, so that this file imports no app.
The console reads it as `settings.CELERY_BEAT_SCHEDULE`.
"""

from datetime import timedelta
from typing import Any

MINUTE = timedelta(minutes=1)


def job(kind: str, *, every: timedelta) -> dict[str, Any]:
    """Start a job of that kind at each beat; its runs are rows, which the console shows."""
    return {"task": "jobs.start", "schedule": every, "args": [kind, int(every.total_seconds())]}


BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # Runs that a dead worker held, and messages that nobody heeded. Makes no run of its own.
    "jobs.sweep": {"task": "jobs.sweep", "schedule": MINUTE},
    # Open effects: what became of a request whose answer was lost. Looks and settles, never sends.
    "ledger.sweep": job("ledger.sweep", every=2 * MINUTE),
    # Refunds that two people have agreed on.
    "ledger.send_refunds": job("ledger.send_refunds", every=MINUTE),
    # Webhooks that were kept while no worker could be woken.
    "ledger.work_events": job("ledger.work_events", every=5 * MINUTE),
    # What webhooks missed.
    "ledger.pull": job("ledger.pull", every=30 * MINUTE),
    # Yesterday's movements beside the ledger and the conversations, for every realm with effects.
    "ledger.reconcile_daily": job("ledger.reconcile_daily", every=24 * 60 * MINUTE),
    # Webhooks and e-mails about new unexplained money, failed runs and overdue ones.
    "ledger.send_alerts": job("ledger.send_alerts", every=5 * MINUTE),
    # Proof that the invariants of tree and ledger hold, or where they do not.
    "ledger.verify_integrity": job("ledger.verify_integrity", every=24 * 60 * MINUTE),
    # What policies say must go, and nothing holds.
    "retention.purge": job("retention.purge", every=6 * 60 * MINUTE),
    # Erasures that waited for the release of a hold.
    "retention.continue_erasures": job("retention.continue_erasures", every=24 * 60 * MINUTE),
    # What the API said to requests with an idempotency key, once nobody repeats them any more.
    "retention.forget_answers": job("retention.forget_answers", every=6 * 60 * MINUTE),
}
