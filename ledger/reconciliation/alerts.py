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

from conversations.currency import major_text
from conversations.ids import mint_id
from jobs.models import JobRun, RunState
from ledger.models import Alert, ReconciliationRun
from ledger.reconciliation.report import tie_outs
from ledger.reconciliation.starting import KIND
from ledger.reconciliation.vocabulary import UNEXPLAINED_KINDS, AlertChannel, AlertKind

ATTEMPTS = 8
_PAUSE = timedelta(minutes=1)
_TIMEOUT = 15
# Longer than sending takes, shorter than a run's lease: when a dead worker's run is taken up again, what it
# had in hand can be sent.
_LEASE = timedelta(minutes=2)


def alert_of_run(*, run: ReconciliationRun, now: datetime) -> int:
    """Write an alert where the run found new money without a cause; return how many rows that made."""
    new = run.sightings.filter(is_new=True, kind__in=UNEXPLAINED_KINDS)
    number = new.count()
    if not number or run.repeats_id:
        return 0
    unexplained = {tie.currency: tie.unexplained for tie in tie_outs(run) if tie.unexplained}
    payload = {
        "run": str(run.pk),
        "processor": run.processor,
        "realm": run.realm.slug,
        "since": run.since.isoformat(),
        "until": run.until.isoformat(),
        "new_findings": number,
        "unexplained_minor": unexplained,
    }
    return _write(
        kind=AlertKind.UNEXPLAINED, about=f"unexplained:{run.pk}", payload=payload, run=run, now=now
    )


def alert_of_failures(*, now: datetime) -> int:
    """Write an alert for each reconciliation job that failed and was not told of yet."""
    written = 0
    failed = JobRun.objects.filter(kind=KIND, state=RunState.FAILED, finished_at__gte=now - timedelta(days=7))
    for job in failed.order_by("finished_at"):
        run = ReconciliationRun.objects.filter(job=job).first()
        payload = {
            "job": str(job.pk),
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
    """Write an alert where no run has finished for longer than the setting allows, once for each day."""
    hours = settings.RECONCILIATION_OVERDUE_HOURS
    last = ReconciliationRun.objects.exclude(finished_at=None).order_by("-finished_at").first()
    if not hours or last is None or last.finished_at is None:
        return 0
    if last.finished_at > now - timedelta(hours=hours):
        return 0
    payload = {"last_run": str(last.pk), "finished_at": last.finished_at.isoformat(), "allowed_hours": hours}
    about = f"overdue:{last.pk}:{now:%Y-%m-%d}"
    return _write(kind=AlertKind.OVERDUE, about=about, payload=payload, run=last, now=now)


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
