"""The nightly job against the sandbox: yesterday's movements pulled, a run queued, everything tied out."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.services.starting import start_job
from ledger.models import ReconciliationRun, Statement, StatementLine
from ledger.reconciliation.daily import start_daily_runs
from ledger.reconciliation.running import reconcile
from ledger.statements.pulling import pull_statement
from tests.ledger.conftest import (
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
