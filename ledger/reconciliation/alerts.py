"""Alerts: what people must hear of without looking. Written with what they tell of, sent by a worker.

The row is committed together with the run, so nothing is told that was rolled back, and nothing
is forgotten. It is sent once: a receiver that answers is not told again; one that does not is tried
a few times, further and further apart, and then given up in sight of everybody.
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import requests
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F

from access.actors import ActorKind
from conversations.currency import major_text
from conversations.ids import mint_id
from jobs.models import JobRun, RunState
from ledger.models import Alert, FindingEvent, ReconciliationRun
from ledger.reconciliation.report import tie_outs
from ledger.reconciliation.starting import KIND
from ledger.reconciliation.vocabulary import UNEXPLAINED_KINDS, AlertChannel, AlertKind, FindingAction

ATTEMPTS = 8
NIGHTLY = "ledger.reconcile_daily"
_PAUSE = timedelta(minutes=1)
_TIMEOUT = 15
# Longer than sending takes, shorter than a run's lease: when a dead worker's run is taken up again, what it
# had in hand can be sent.
_LEASE = timedelta(minutes=2)


def alert_of_run(*, run: ReconciliationRun, now: datetime) -> int:
    """Write an alert where the run found money without a cause, new or back again; return how many rows."""
    new = run.sightings.filter(is_new=True, kind__in=UNEXPLAINED_KINDS).count()
    back = FindingEvent.objects.filter(
        run=run, action=FindingAction.REOPENED, finding__kind__in=UNEXPLAINED_KINDS
    ).count()
    if not (new or back) or run.repeats_id:
        return 0
    unexplained = {tie.currency: tie.unexplained for tie in tie_outs(run) if tie.unexplained}
    payload = {
        "run": str(run.pk),
        "processor": run.processor,
        "realm": run.realm.slug,
        "since": run.since.isoformat(),
        "until": run.until.isoformat(),
        "new_findings": new,
        "reopened_findings": back,
        "unexplained_minor": unexplained,
    }
    return _write(
        kind=AlertKind.UNEXPLAINED, about=f"unexplained:{run.pk}", payload=payload, run=run, now=now
    )


def alert_of_failures(*, now: datetime) -> int:
    """Write an alert for each job of the reconciliation that failed and was not told of yet."""
    written = 0
    failed = JobRun.objects.filter(
        kind__in=(KIND, NIGHTLY), state=RunState.FAILED, finished_at__gte=now - timedelta(days=7)
    )
    for job in failed.order_by("finished_at"):
        run = ReconciliationRun.objects.filter(job=job).first()
        payload = {
            "job": str(job.pk),
            "kind": job.kind,
            "run": str(run.pk) if run else None,
            "code": job.error_code,
            "attempt": job.attempt,
        }
        about = (
            f"failed:{job.pk}:{int(job.finished_at.timestamp())}" if job.finished_at else f"failed:{job.pk}"
        )
        written += _write(kind=AlertKind.FAILED, about=about, payload=payload, run=run, now=now)
    return written


def alert_if_overdue(*, now: datetime) -> int:
    """Write an alert for each realm whose runs are overdue, once for each day; return how many rows."""
    hours = settings.RECONCILIATION_OVERDUE_HOURS
    if not hours:
        return 0
    written = 0
    for last in _last_runs():
        since = last.finished_at or last.requested_at
        if since > now - timedelta(hours=hours):
            continue
        payload = {
            "realm": last.realm.slug,
            "last_run": str(last.pk),
            "finished_at": last.finished_at.isoformat() if last.finished_at else None,
            "allowed_hours": hours,
        }
        about = f"overdue:{last.pk}:{now:%Y-%m-%d}"
        written += _write(kind=AlertKind.OVERDUE, about=about, payload=payload, run=last, now=now)
    return written


def _last_runs() -> list[ReconciliationRun]:
    """Return the run by which each realm is up to date: of those of the nightly job, or the last of all.

    One that finished, or the first that was asked for where none has. A run by hand, perhaps over
    the ledger alone, does not stand for the nightly one.
    """
    runs = ReconciliationRun.objects.select_related("realm")
    nightly = runs.filter(requested_by_kind=ActorKind.JOB)
    newest_first = F("finished_at").desc(nulls_last=True)
    found = list(nightly.order_by("realm_id", newest_first, "requested_at").distinct("realm_id"))
    if found:
        return found
    finished = runs.exclude(finished_at=None).order_by("-finished_at")
    return list(finished[:1])


def due_alerts(*, now: datetime) -> list[Any]:
    return list(
        Alert.objects.filter(sent_at=None, given_up_at=None, next_attempt_at__lte=now)
        .order_by("next_attempt_at")
        .values_list("pk", flat=True)
    )


def send_alert(*, alert_id: Any, now: datetime) -> str:
    """Send one alert, outside any transaction; return what became of it, in a word.

    It is claimed first, so that of two workers one sends.
    """
    claimed = Alert.objects.filter(
        pk=alert_id, sent_at=None, given_up_at=None, next_attempt_at__lte=now
    ).update(next_attempt_at=now + _LEASE)
    if not claimed:
        return "claimed_by_another"
    alert = Alert.objects.select_related("run__realm").get(pk=alert_id)
    alert.attempts += 1
    try:
        _SENDERS[AlertChannel(alert.channel)](alert, now)
    except (OSError, ValueError) as error:
        return _postpone(alert, error, now)
    alert.sent_at, alert.trouble = now, ""
    alert.save(update_fields=["attempts", "sent_at", "trouble"])
    return "sent"


def signature(*, body: bytes, secret: str, at: datetime) -> str:
    """Sign as processors do: t=<seconds>,v1=<HMAC-SHA256 of "seconds.body">."""
    seconds = int(at.timestamp())
    mac = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={mac}"


def _write(
    *, kind: AlertKind, about: str, payload: dict[str, Any], run: ReconciliationRun | None, now: datetime
) -> int:
    channels = []
    if settings.ALERT_WEBHOOK_URL:
        channels.append(AlertChannel.WEBHOOK)
    if settings.ALERT_EMAILS:
        channels.append(AlertChannel.EMAIL)
    known = set(Alert.objects.filter(about=about).values_list("channel", flat=True))
    with transaction.atomic():
        made = Alert.objects.bulk_create(
            [
                Alert(
                    id=mint_id(now),
                    kind=kind,
                    channel=channel,
                    about=about,
                    run=run,
                    payload=payload,
                    written_at=now,
                    next_attempt_at=now,
                )
                for channel in channels
                if channel not in known
            ],
            ignore_conflicts=True,
        )
    return len(made)


def _postpone(alert: Alert, error: Exception, now: datetime) -> str:
    alert.trouble = f"{type(error).__name__}: {error}"[:255]
    if alert.attempts >= ATTEMPTS:
        alert.given_up_at = now
    alert.next_attempt_at = now + _PAUSE * 2**alert.attempts
    alert.save(update_fields=["attempts", "trouble", "given_up_at", "next_attempt_at"])
    return "given_up" if alert.given_up_at else "postponed"


def _send_webhook(alert: Alert, now: datetime) -> None:
    body = json.dumps(
        {
            "id": str(alert.pk),
            "kind": alert.kind,
            "written_at": alert.written_at.isoformat(),
            **alert.payload,
        },
        sort_keys=True,
    ).encode()
    answer = requests.post(
        settings.ALERT_WEBHOOK_URL,
        data=body,
        headers={
            "Content-Type": "application/json",
            "Counterfoil-Alert": str(alert.pk),
            "Counterfoil-Signature": signature(body=body, secret=settings.ALERT_WEBHOOK_SECRET, at=now),
        },
        timeout=_TIMEOUT,
        # A receiver that has moved is to be configured anew: what is signed goes where it was meant to go.
        allow_redirects=False,
    )
    if not answer.ok or answer.is_redirect:
        raise OSError(f"the receiver answered {answer.status_code}")


def _send_email(alert: Alert, now: datetime) -> None:
    EmailMessage(subject=_subject(alert), body=_words(alert), to=settings.ALERT_EMAILS).send()


def _subject(alert: Alert) -> str:
    return f"Counterfoil: {AlertKind(alert.kind).label.lower()}"


def _words(alert: Alert) -> str:
    lines = [AlertKind(alert.kind).label, ""]
    for name, value in sorted(alert.payload.items()):
        if name == "unexplained_minor":
            lines += [
                f"unexplained: {currency.upper()} {major_text(minor, currency)}"
                for currency, minor in sorted(value.items())
            ]
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(lines)


_SENDERS: dict[AlertChannel, Callable[[Alert, datetime], None]] = {
    AlertChannel.WEBHOOK: _send_webhook,
    AlertChannel.EMAIL: _send_email,
}
