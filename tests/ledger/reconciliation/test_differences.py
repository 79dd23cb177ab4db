"""Amounts, currencies and states that differ, each named."""

from datetime import timedelta

import pytest

from ledger.services.settling import settle_effect
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import found, line, tied
from tests.ledger.seen import AGENT, charged, declined

pytestmark = pytest.mark.django_db


def test_another_amount_differs_by_so_much(statement, run, pays):
    pays("ch_1", amount=1900)

    done = run(statement(line("charge", "ch_1", 1935)))

    assert found(done) == [("amount_differs", "ch_1", 35)]
    assert tied(done) == {"usd": (1900, 1935, 0, 35)}


def test_another_currency_differs_and_counts_on_both_sides(statement, run, pays):
    pays("ch_1", amount=1900, currency="usd")

    done = run(statement(line("charge", "ch_1", 1900, currency="eur")))

    assert found(done) == [("currency_differs", "ch_1", 1900)]
    assert tied(done) == {"eur": (0, 1900, 0, 1900), "usd": (1900, 0, 0, -1900)}


def test_a_pending_effect_that_the_processor_has_charged_differs_in_state(statement, run, begins):
    effect = begins()

    done = run(statement(line("charge", "ch_1", 1900, effect=effect)))

    assert found(done) == [("state_differs", "ch_1", 1900)]
    assert tied(done) == {"usd": (0, 1900, 1900, 0)}


def test_an_applied_effect_that_failed_at_the_processor_differs_in_state(statement, run, pays):
    pays("ch_1")

    done = run(statement(line("charge", "ch_1", 1900, status="failed")))

    assert found(done) == [("state_differs", "ch_1", -1900)]


def test_an_attempt_that_was_declined_before_the_good_one_is_no_difference(statement, run, begins):
    effect = begins()
    settle_effect(effect_id=effect.pk, seen=declined("ch_0", effect_id=effect.pk), actor=AGENT, now=NOW)
    settle_effect(effect_id=effect.pk, seen=charged("ch_1", effect_id=effect.pk), actor=AGENT, now=NOW)

    done = run(
        statement(
            line("charge", "ch_0", 1900, status="failed", effect=effect),
            line("charge", "ch_1", 1900, effect=effect),
        )
    )

    assert found(done) == []
    assert tied(done) == {"usd": (1900, 1900, 0, 0)}


def test_two_charges_under_one_key_are_both_kept_and_none_is_picked_in_silence(statement, run, begins):
    effect = begins(amount=2400)

    done = run(
        statement(
            line("charge", "ch_71", 2400, effect=effect, at=NOW + timedelta(hours=2)),
            line("charge", "ch_70", 2400, effect=effect),
        )
    )

    assert found(done) == [("contradiction", "ch_71", 2400), ("state_differs", "ch_70", 2400)]
    assert {row.effect_id for row in done.rows.filter(kind="charge")} == {effect.pk}


def test_a_second_charge_that_a_webhook_told_of_is_found_once(statement, run, pays):
    effect = pays("ch_1")
    settle_effect(effect_id=effect.pk, seen=charged("ch_2", effect_id=effect.pk), actor=AGENT, now=NOW)

    done = run(statement(line("charge", "ch_1", 1900), line("charge", "ch_2", 1900)))

    assert found(done) == [("contradiction", "ch_2", 1900)]
    assert tied(done) == {"usd": (1900, 3800, 1900, 0)}


@pytest.mark.parametrize("kind", ["release", "refund"])
def test_the_rest_of_a_partial_capture_was_never_taken(statement, run, begins, kind):
    effect = begins(amount=10000)
    seen = charged("ch_1", amount_minor=6000, effect_id=effect.pk)
    settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=NOW)

    done = run(statement(line("charge", "ch_1", 10000), line(kind, "re_1", 4000, charge_ref="ch_1")))

    assert found(done) == []
    assert tied(done) == {"usd": (6000, 6000, 0, 0)}


def test_a_charge_captured_in_steps_is_the_sum_of_its_lines(statement, run, pays):
    pays("ch_1", amount=3000)

    done = run(statement(line("charge", "ch_1", 1000), line("charge", "ch_1", 2000)))

    assert found(done) == []
    assert done.rows.get(reference="ch_1").line_count == 2
