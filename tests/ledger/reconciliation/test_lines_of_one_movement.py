"""Lines that speak of one movement: named by intent and by charge, listed twice, spread over statements."""

import io
from datetime import timedelta

import pytest

from ledger.services.settling import settle_effect
from ledger.statements.importing import Told, import_statement
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import FINANCE, SINCE, UNTIL, found, give, line, tied
from tests.ledger.seen import AGENT, declined

pytestmark = pytest.mark.django_db

PAYMENTS = "id,Created (UTC),Amount,Amount Refunded,Currency,Captured,Status,PaymentIntent ID"
ITEMISED = (
    "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,"
    "customer_facing_amount,customer_facing_currency,charge_id"
)
AT = f"{NOW:%Y-%m-%d %H:%M:%S}"


@pytest.fixture
def take(realm):
    def make(header, *rows, at=UNTIL):
        return import_statement(
            realm=realm,
            file=io.BytesIO("\n".join([header, *rows]).encode()),
            told=Told(name="stripe.csv", period_start=SINCE, period_end=UNTIL),
            actor=FINANCE,
            now=at,
        ).statement

    return make


def test_a_payment_that_is_listed_by_its_intent_is_the_charge(take, run, pays):
    pays("ch_1")

    done = run(take(PAYMENTS, f"pi_ch_1,{AT},19.00,0.00,usd,true,Paid,"))

    assert found(done) == []
    assert tied(done) == {"usd": (1900, 1900, 0, 0)}


def test_a_payment_that_two_statements_name_by_intent_and_by_charge_counts_once(take, run, pays):
    pays("ch_1")
    by_intent = take(PAYMENTS, f"pi_ch_1,{AT},19.00,0.00,usd,true,Paid,")
    by_charge = take(ITEMISED, f"txn_1,{AT},usd,19.00,0,19.00,charge,ch_1,19.00,usd,ch_1")

    done = run(by_intent, by_charge)

    assert found(done) == []
    assert tied(done) == {"usd": (1900, 1900, 0, 0)}


def test_a_row_that_is_listed_twice_is_one(take, run, pays):
    pays("ch_1")
    pays("ch_2")
    payment = f"ch_1,{AT},19.00,0.00,usd,true,Paid,pi_ch_1"
    row = f"txn_2,{AT},usd,19.00,0,19.00,charge,ch_2,19.00,usd,ch_2"
    other = f"txn_1,{AT},usd,19.00,0,19.00,charge,ch_1,19.00,usd,ch_1"

    assert tied(run(take(PAYMENTS, payment, payment, payment.replace("ch_1", "ch_2"))))["usd"][:2] == (
        3800,
        3800,
    )
    assert tied(run(take(ITEMISED, row, row, other)))["usd"][:2] == (3800, 3800)


def test_steps_of_a_capture_in_two_statements_are_one_charge(take, run, pays):
    pays("ch_1", amount=10_000)
    step = "{0},{1},usd,{2}.00,0,{2}.00,charge,ch_1,,,ch_1"
    first = take(ITEMISED, step.format("txn_1", AT, 40))
    second = take(ITEMISED, step.format("txn_1", AT, 40), step.format("txn_2", AT, 60))
    third = take(ITEMISED, step.format("txn_2", AT, 60))

    for inputs in ((first, third), (first, second), (first, second, third)):
        done = run(*inputs)
        assert found(done) == []
        assert tied(done) == {"usd": (10_000, 10_000, 0, 0)}


def test_a_returned_refund_in_the_currency_of_settlement_does_not_compare(take, run, pays):
    """The balance names no customer's amount for a failed refund."""
    effect = pays("ch_1", currency="eur")
    give(effect, "re_1", currency="eur")
    give(
        effect,
        "re_1",
        currency="eur",
        outcome="failed",
        status="failed",
        occurred_at=NOW + timedelta(hours=3),
    )
    rows = (
        f"txn_1,{AT},usd,20.52,0,20.52,charge,ch_1,19.00,eur,ch_1",
        f"txn_2,{AT},usd,-5.40,0,-5.40,refund,re_1,-5.00,eur,ch_1",
        f"txn_3,{AT},usd,5.41,0,5.41,refund_failure,re_1,,,ch_1",
    )

    done = run(take(ITEMISED, *rows))

    assert ("currency_differs", "re_1", 541) in found(done)
    assert not [one for one in found(done) if one[0] == "amount_differs"]


def test_a_payment_that_was_credited_and_failed_agrees_with_a_failed_effect(take, run, begins):
    effect = begins()
    seen = declined("py_1", intent="pi_1", effect_id=effect.pk, amount_minor=None)
    settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=NOW)
    rows = (
        f"txn_1,{AT},usd,19.00,0,19.00,charge,py_1,19.00,usd,py_1",
        f"txn_2,{AT},usd,-19.00,0,-19.00,charge_failure,pyr_1,-19.00,usd,py_1",
    )

    done = run(take(ITEMISED, *rows))

    assert found(done) == []
    assert tied(done) == {"usd": (0, 0, 0, 0)}


def test_of_two_effects_equally_near_none_is_suggested(statement, run, begins):
    begins()
    begins()

    done = run(statement(line("charge", "ch_9", 1900)))

    assert done.rows.get(reference="ch_9").matched_by == "nothing"


@pytest.mark.parametrize("lines_at_once", [1, 2000])
def test_two_charges_that_bear_only_the_key_are_both_kept(take, run, begins, lines_at_once):
    """The first in time is the charge, whichever stands first."""
    effect = begins(amount=2400)
    later = f"{NOW + timedelta(hours=20):%Y-%m-%d %H:%M:%S}"
    row = "{0},{1},24.00,0.00,usd,true,Paid,{2},{3}"
    rows = (
        row.format("ch_71", later, "pi_71", effect.idempotency_key),
        row.format("ch_70", AT, "pi_70", effect.idempotency_key),
    )

    done = run(take(f"{PAYMENTS},counterfoil_key (metadata)", *rows), lines_at_once=lines_at_once)

    assert found(done) == [("contradiction", "ch_71", 2400), ("state_differs", "ch_70", 2400)]
    assert tied(done) == {"usd": (0, 4800, 4800, 0)}
