"""The nightly job against the sandbox: yesterday's movements pulled, a run queued, everything tied out."""

from datetime import UTC, datetime, timedelta

import pytest

from access.models import Realm
from conversations.services.starting import start_conversation
from jobs.services.starting import start_job
from jobs.services.steering import free_abandoned
from ledger.models import Finding, ReconciliationRun, Statement, StatementLine
from ledger.reconciliation import daily
from ledger.reconciliation.daily import start_daily_runs
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import start_reconciliation
from ledger.statements.pulling import pull_statement
from tests.ledger.conftest import (
    Talk,
    account,
    charge,
    charge_card,
    clock,
    conversation,
    make_account,
    make_conversation,
    pay,
    processor,
    realm,
    register,
    running_processor,
    staff,
    stripe_api,
    stripe_settings,
    talk,
)
from tests.ledger.reconciliation.conftest import FINANCE, found, tied

__all__ = [
    "account",
    "charge",
    "charge_card",
    "clock",
    "conversation",
    "make_account",
    "make_conversation",
    "pay",
    "processor",
    "realm",
    "register",
    "running_processor",
    "staff",
    "stripe_api",
    "stripe_settings",
    "talk",
]

pytestmark = pytest.mark.django_db(transaction=True)


def midnight_after(moment: datetime) -> datetime:
    return datetime.combine(
        moment.astimezone(UTC).date() + timedelta(days=1), datetime.min.time(), tzinfo=UTC
    )


def test_yesterday_is_pulled_and_ties_out_but_for_what_we_did_not_charge(
    talk, charge_card, charge, clock, processor, pay, stripe_api
):
    talk.says()
    charge(talk, talk.calls("toolu_1"), "toolu_1")
    elsewhere = pay(amount=700)
    refund = stripe_api.refunds.create({"payment_intent": elsewhere.id, "amount": 200})
    tomorrow = midnight_after(clock())

    def hear() -> datetime:
        # A minute past midnight: what only one side knows still waits.
        return tomorrow + timedelta(minutes=1)

    job = start_job(kind="ledger.reconcile_daily", requested_by=("job", "beat"), now=hear())
    start_daily_runs(run_id=job.pk, clock=hear)

    run = ReconciliationRun.objects.get()
    statement = Statement.objects.get()
    assert (statement.format, statement.period_end, statement.line_count) == ("api", tomorrow, 3)
    reconcile(run_id=run.job_id, clock=hear)
    run.refresh_from_db()
    assert tied(run)["usd"][:2] == (1900, 1900 + 700 - 200)
    assert run.rows.filter(is_waiting=True).count() == 2
    assert found(run) == []
    assert refund.id in run.rows.values_list("reference", flat=True)


def test_what_waited_in_one_nights_run_is_a_finding_of_the_next(talk, charge_card, charge, clock, pay):
    talk.says()
    charge(talk, talk.calls("toolu_1"), "toolu_1")
    pay(amount=700)
    # Right at the end of the day: whatever the hour is now, less than a day has passed then.
    tomorrow = midnight_after(clock())

    first, second, third = (nightly(tomorrow + timedelta(days=day)) for day in range(3))

    assert (found(first), first.rows.filter(is_waiting=True).count()) == ([], 1)
    assert [(kind, amount) for kind, _, amount in found(second)] == [("missing_in_ledger", 700)]
    assert (found(third), Finding.objects.get().state) == ([], "open")


def test_two_realms_share_an_account_and_what_neither_knows_is_one_finding(
    talk, charge_card, register, charge, clock, pay, realm, make_account
):
    """The younger realm is told of nothing that is not its own."""
    other = Realm.objects.create(slug="us", name="America", created_at=clock())
    theirs = Talk(start_conversation(account_id=make_account(realm=other).pk, now=clock()))
    register(realm=other)
    for number, told in enumerate((talk, theirs), 1):
        told.says()
        charge(told, told.calls(f"toolu_{number}"), f"toolu_{number}")
    pay(amount=700)
    then = midnight_after(clock()) + timedelta(days=1, hours=4)

    nightly(then)

    of_realm = {run.realm_id: run for run in ReconciliationRun.objects.all()}
    assert [kind for kind, _, _ in found(of_realm[realm.pk])] == ["missing_in_ledger"]
    assert found(of_realm[other.pk]) == []
    assert tied(of_realm[other.pk])["usd"][:2] == (1900, 1900)


def nightly(now: datetime) -> ReconciliationRun:
    """What beat starts at that moment, with the runs that it queues; returns the last of them."""
    job = start_job(kind="ledger.reconcile_daily", requested_by=("job", "beat"), now=now)
    start_daily_runs(run_id=job.pk, clock=lambda: now)
    for run in ReconciliationRun.objects.filter(finished_at=None):
        reconcile(run_id=run.job_id, clock=lambda: now)
    return ReconciliationRun.objects.latest("requested_at")


class WorkerDiedError(BaseException):
    """As a kill does, it passes by everything that would clear up."""


def test_a_night_whose_worker_died_behind_its_run_starts_no_second_one(
    talk, charge_card, charge, clock, monkeypatch
):
    talk.says()
    charge(talk, talk.calls("toolu_1"), "toolu_1")
    before_midnight = midnight_after(clock()) + timedelta(hours=23, minutes=58)
    moments = [before_midnight, before_midnight + timedelta(minutes=6)]
    job = start_job(kind="ledger.reconcile_daily", requested_by=("job", "beat"), now=before_midnight)

    def dies(**asked):
        start_reconciliation(**asked)
        raise WorkerDiedError

    with monkeypatch.context() as patch:
        patch.setattr(daily, "start_reconciliation", dies)
        with pytest.raises(WorkerDiedError):
            start_daily_runs(run_id=job.pk, clock=lambda: moments[0])
    run = ReconciliationRun.objects.get()
    reconcile(run_id=run.job_id, clock=lambda: moments[0])
    free_abandoned(now=moments[1])
    done = start_daily_runs(run_id=job.pk, clock=lambda: moments[1])

    assert (ReconciliationRun.objects.get().pk, Statement.objects.count()) == (run.pk, 1)
    assert (done.state, done.counts) == ("succeeded", {"realms": {"started": 1}})


def test_the_same_window_pulled_twice_is_one_statement(realm, stripe_settings, pay, clock):
    pay()
    since = clock() - timedelta(hours=1)
    window = {"realm": realm, "processor": "stripe", "since": since, "until": since + timedelta(hours=2)}

    first, again = (pull_statement(**window, actor=FINANCE, now=clock()) for _ in range(2))

    assert (first.is_new, again.is_new, first.statement) == (True, False, again.statement)
    assert StatementLine.objects.count() == 1


def test_a_processor_that_is_not_configured_starts_nothing(talk, charge_card, settings, clock):
    settings.STRIPE_API_KEY = ""
    talk.says()
    talk.begins(talk.calls("toolu_1"), "toolu_1")
    job = start_job(kind="ledger.reconcile_daily", requested_by=("job", "beat"), now=clock())

    done = start_daily_runs(run_id=job.pk, clock=clock)

    assert done.counts == {"realms": {"not_configured": 1}}
    assert ReconciliationRun.objects.count() == 0
