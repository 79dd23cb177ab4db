"""What beat wakes, and how often: the one place where the schedule is written.

Each entry names a Celery task by its dotted path, so that this file imports no app.
The console reads it as `settings.CELERY_BEAT_SCHEDULE`.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from celery.schedules import schedstate, schedule

MINUTE = timedelta(minutes=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CLOCKS_DIFFER = timedelta(seconds=30)


class Beat(schedule):
    """Due just after every multiple of its interval since the epoch: each day's after midnight UTC.

    A little after, as the worker that starts the run has a clock of its own and asks it which interval
    this is. Celery's own counts from when beat was started, so a beat that is started anew more often than
    once a day would never come to what is due once a day, and no page could say when it is.
    """

    def is_due(self, last_run_at: datetime) -> schedstate:
        now = self.maybe_make_aware(self.now())
        due_at = self._next(self.maybe_make_aware(last_run_at))
        if now < due_at:
            return schedstate(is_due=False, next=(due_at - now).total_seconds())
        return schedstate(is_due=True, next=(self._next(now) - now).total_seconds())

    def _next(self, moment: datetime) -> datetime:
        every: timedelta = self.run_every  # type: ignore[attr-defined]  # the stubs leave it out
        first = _EPOCH + min(every / 10, _CLOCKS_DIFFER)
        return first + ((moment - first) // every + 1) * every


def job(kind: str, *, every: timedelta) -> dict[str, Any]:
    """Start a job of that kind at each beat; its runs are rows, which the console shows."""
    return {"task": "jobs.start", "schedule": Beat(every), "args": [kind, int(every.total_seconds())]}


BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    # Runs that a dead worker held, and messages that nobody heeded. Makes no run of its own.
    "jobs.sweep": {"task": "jobs.sweep", "schedule": Beat(MINUTE)},
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
