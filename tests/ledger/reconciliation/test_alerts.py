"""Alerts: written with the run, sent once by a worker, tried again a few times, then given up in sight."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from django.core import mail

from access.actors import Actor, ActorKind
from access.models import Realm
from jobs.models import JobRun
from jobs.services.starting import start_job
from ledger.models import Alert
from ledger.reconciliation.alerts import (
    ATTEMPTS,
    alert_if_overdue,
    alert_of_failures,
    due_alerts,
    send_alert,
)
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, SINCE, UNTIL, line

pytestmark = pytest.mark.django_db
AFTER = CUT_OFF + DAY


class Receiver:
    """A server that keeps what it was sent, and answers as it is told."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None:
                """Say nothing into the test's output."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, daemon=True)
    thread.start()
    settings.ALERT_WEBHOOK_URL = f"http://127.0.0.1:{receiver.server.server_port}/alerts"
    settings.ALERT_WEBHOOK_SECRET = "shared"
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()
    thread.join()


def send_all(now=AFTER) -> list[str]:
    return [send_alert(alert_id=pk, now=now) for pk in due_alerts(now=now)]


def test_new_unexplained_money_is_told_once_and_signed(receiver, statement, run):
    done = run(statement(line("charge", "ch_9", 5800, currency="jpy")))
    assert receiver.got == []

    assert (send_all(), send_all()) == (["sent"], [])

    ((headers, body),) = receiver.got
    told = json.loads(body)
    assert (told["kind"], told["run"], told["unexplained_minor"]) == (
        "unexplained",
        str(done.pk),
        {"jpy": 5800},
    )
    at, mac = (part.split("=")[1] for part in headers["Counterfoil-Signature"].split(","))
    assert mac == hmac.new(b"shared", f"{at}.".encode() + body, hashlib.sha256).hexdigest()


def test_a_run_that_finds_the_same_again_tells_nobody(receiver, statement, run):
    document = statement(line("charge", "ch_9", 100))
    run(document)
    run(document)

    assert Alert.objects.count() == 1


def test_an_e_mail_says_amounts_in_their_currency(settings, statement, run):
    settings.ALERT_EMAILS = ["finance@example.com"]
    run(statement(line("charge", "ch_9", 5800, currency="jpy"), line("charge", "ch_8", 1999)))

    assert send_all() == ["sent"]

    (message,) = mail.outbox
    assert message.to == ["finance@example.com"]
    assert "unexplained: JPY 5800\nunexplained: USD 19.99" in message.body


def test_a_receiver_that_fails_is_tried_again_later_and_then_given_up(receiver, statement, run):
    run(statement(line("charge", "ch_9", 100)))
    receiver.answers = [500] * (ATTEMPTS + 1)
    now = AFTER

    assert send_all(now) == ["postponed"]
    assert send_all(now) == []
    for _ in range(ATTEMPTS - 2):
        now += DAY
        assert send_all(now) == ["postponed"]
    assert send_all(now + DAY) == ["given_up"]

    alert = Alert.objects.get()
    assert (alert.attempts, alert.trouble) == (ATTEMPTS, "OSError: the receiver answered 500")
    assert len(receiver.got) == ATTEMPTS


def test_of_two_workers_one_sends(receiver, statement, run):
    run(statement(line("charge", "ch_9", 100)))
    (pk,) = due_alerts(now=AFTER)

    assert [send_alert(alert_id=pk, now=AFTER) for _ in range(2)] == ["sent", "claimed_by_another"]
    assert len(receiver.got) == 1


def test_a_run_that_failed_is_told_once(receiver, statement, realm):
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement().pk], cut_off=CUT_OFF)
    run = start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)
    JobRun.objects.filter(pk=run.job_id).update(
        state="failed", error_code="keeps-dying", finished_at=CUT_OFF + timedelta(hours=1)
    )

    start_job(kind="ledger.reconcile_daily", requested_by=("job", "beat"), now=CUT_OFF)
    JobRun.objects.filter(kind="ledger.reconcile_daily").update(
        state="failed", error_code="OSError", finished_at=CUT_OFF + timedelta(hours=2)
    )

    assert (alert_of_failures(now=AFTER), alert_of_failures(now=AFTER)) == (2, 0)
    assert set(Alert.objects.values_list("payload__code", flat=True)) == {"keeps-dying", "OSError"}


def test_an_overdue_run_is_told_once_a_day(receiver, statement, run, settings):
    settings.RECONCILIATION_OVERDUE_HOURS = 36
    run(statement(line("charge", "ch_9", 100, status="failed")))

    assert alert_if_overdue(now=CUT_OFF + timedelta(hours=35)) == 0
    assert [alert_if_overdue(now=CUT_OFF + timedelta(hours=hours)) for hours in (37, 38, 61)] == [1, 0, 1]


@pytest.fixture
def nightly():
    """The run of a realm by the nightly job, to its end."""

    def make(realm, now):
        asked = Asked(realm=realm, processor="stripe", since=SINCE, until=UNTIL, cut_off=CUT_OFF)
        run = start_reconciliation(asked=asked, actor=Actor(ActorKind.JOB, "1"), now=now)
        reconcile(run_id=run.job_id, clock=lambda: now)

    return make


def test_each_realm_is_overdue_by_its_own_nightly_runs(receiver, statement, run, nightly, realm, settings):
    """Another realm's run, or one by hand, does not stand for it."""
    settings.RECONCILIATION_OVERDUE_HOURS = 36
    beside = Realm.objects.create(slug="beside", name="Beside", created_at=CUT_OFF)
    later = CUT_OFF + 3 * DAY
    nightly(realm, CUT_OFF)
    nightly(beside, later)
    run(statement(), now=later)

    assert alert_if_overdue(now=later + timedelta(hours=1)) == 1
    assert Alert.objects.get(kind="overdue").payload["realm"] == realm.slug


def test_a_nightly_run_that_never_came_to_its_end_is_overdue(receiver, realm, settings):
    settings.RECONCILIATION_OVERDUE_HOURS = 36
    asked = Asked(realm=realm, processor="stripe", since=SINCE, until=UNTIL, cut_off=CUT_OFF)
    start_reconciliation(asked=asked, actor=Actor(ActorKind.JOB, "1"), now=CUT_OFF)

    assert alert_if_overdue(now=CUT_OFF + timedelta(hours=35)) == 0
    assert alert_if_overdue(now=CUT_OFF + timedelta(hours=37)) == 1


def test_money_that_is_unexplained_again_is_told_again(receiver, statement, run):
    document, mended = statement(line("charge", "ch_9", 100)), statement()
    for inputs in (document, mended, document):
        run(inputs)

    assert Alert.objects.filter(kind="unexplained").count() == 2


def test_nobody_is_told_where_nobody_is_named(statement, run, settings):
    settings.ALERT_WEBHOOK_URL, settings.ALERT_EMAILS = "", []

    run(statement(line("charge", "ch_9", 100)))

    assert Alert.objects.count() == 0
