"""Disputes beside a statement: whether they took or gave back, how much, and whose they are."""

from datetime import timedelta

import pytest

from ledger.services.disputes import take_dispute
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import CUT_OFF, found, line, tied
from tests.ledger.seen import disputed

pytestmark = pytest.mark.django_db

WON = {"status": "won", "is_open": False, "occurred_at": NOW + timedelta(hours=2)}


@pytest.fixture
def contests(pays):
    """A charge of 19.00 whose dispute the ledger has heard of."""

    def make(*news, amount: int = 1900, **given):
        effect = pays("ch_1")
        for one in ({}, *news):
            seen = disputed(**{"amount_minor": amount, **given, **one})
            take_dispute(effect_id=effect.pk, seen=seen, now=NOW)
        return effect

    return make


def of_statement(run):
    """What the comparison found; that a dispute is open is found in any case."""
    return [one for one in found(run) if one[0] != "dispute_open"]


def test_a_dispute_of_the_same_amount_ties_out(statement, run, contests):
    contests()

    done = run(statement(line("charge", "ch_1", 1900), line("dispute", "dp_1", 1900, charge_ref="ch_1")))

    assert found(done) == [("dispute_open", "dp_1", 1900)]
    assert tied(done) == {"usd": (0, 0, 0, 0)}


@pytest.mark.parametrize("charge", ["ch_1", ""])
def test_a_dispute_that_took_another_amount_differs_by_so_much(statement, run, contests, charge):
    effect = contests()

    done = run(statement(line("charge", "ch_1", 1900), line("dispute", "dp_1", 2150, charge_ref=charge)))

    assert of_statement(done) == [("amount_differs", "dp_1", -250)]
    assert done.sightings.get(kind="amount_differs").effect_id == effect.pk
    assert tied(done) == {"usd": (0, -250, 0, -250)}


def test_a_dispute_that_was_won_and_gave_back_less_differs(statement, run, contests):
    contests(WON)
    lines = [
        line("charge", "ch_1", 1900),
        line("dispute", "dp_1", 1900, charge_ref="ch_1"),
        line("dispute_reversal", "dp_1", 1400, charge_ref="ch_1"),
    ]

    done = run(statement(*lines))

    assert found(done) == [("amount_differs", "dp_1", -500)]
    assert done.sightings.get().subject == "dispute_reversal:dp_1"
    assert tied(done) == {"usd": (1900, 1400, 0, -500)}


def test_what_was_given_back_while_the_ledger_has_it_open_differs_in_state(statement, run, contests):
    contests()
    lines = [
        line("charge", "ch_1", 1900),
        line("dispute", "dp_1", 1900, charge_ref="ch_1"),
        line("dispute_reversal", "dp_1", 1900, charge_ref="ch_1"),
    ]

    done = run(statement(*lines))

    assert of_statement(done) == [("state_differs", "dp_1", 1900)]
    assert tied(done) == {"usd": (0, 1900, 1900, 0)}


def test_a_dispute_in_another_currency_does_not_compare(statement, run, contests):
    contests()
    lines = [line("charge", "ch_1", 1900), line("dispute", "dp_1", 1750, currency="eur", charge_ref="ch_1")]

    done = run(statement(*lines))

    assert of_statement(done) == [("currency_differs", "dp_1", -1750)]
    assert tied(done) == {"eur": (0, -1750, 0, -1750), "usd": (0, 1900, 0, 1900)}


def test_a_dispute_that_was_heard_of_without_an_amount_is_no_word_on_it(statement, run, contests):
    contests(amount=0)

    done = run(statement(line("charge", "ch_1", 1900), line("dispute", "dp_1", 700, charge_ref="ch_1")))

    assert of_statement(done) == []


def test_the_amount_is_that_which_was_known_at_the_cut_off(statement, run, contests):
    effect = contests()
    later = CUT_OFF + timedelta(days=1)
    seen = disputed(amount_minor=700, occurred_at=NOW + timedelta(hours=1))
    take_dispute(effect_id=effect.pk, seen=seen, now=later)
    document = statement(line("charge", "ch_1", 1900), line("dispute", "dp_1", 1900, charge_ref="ch_1"))

    assert of_statement(run(document)) == []
    assert of_statement(run(document, cut_off=later)) == [("amount_differs", "dp_1", -1200)]
