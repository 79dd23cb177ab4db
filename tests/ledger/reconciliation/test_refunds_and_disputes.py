"""Refunds and disputes beside a statement."""

from datetime import timedelta

import pytest

from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import ReferenceKind
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import found, give, line, tied
from tests.ledger.seen import AGENT, charged

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_shown", [True, False])
def test_a_refund_by_a_tool_of_a_charge_that_we_know_counts_once(
    statement, run, pays, talk, register, is_shown
):
    """It stands twice in the ledger: as what the tool did, and as what its charge gave back."""
    register("give_back", operation="refund", amount_path="", currency_path="")
    charge = pays("ch_1")
    talk.says()
    refund = talk.begins(talk.calls("toolu_r", name="give_back", arguments="{}"), "toolu_r").effect
    mark_sent(effect_id=refund.pk, now=NOW)
    seen = charged("re_1", amount_minor=500, references=[(ReferenceKind.REFUND, "re_1")], effect_id=refund.pk)
    settle_effect(effect_id=refund.pk, seen=seen, actor=AGENT, now=NOW)
    give(charge)
    shown = [line("refund", "re_1", 500, charge_ref="ch_1")] if is_shown else []

    done = run(statement(line("charge", "ch_1", 1900), *shown))

    assert found(done) == ([] if is_shown else [("missing_at_processor", "re_1", 500)])
    assert tied(done)["usd"] == ((1400, 1400, 0, 0) if is_shown else (1400, 1900, 0, 500))


def test_several_partial_refunds_are_compared_one_by_one(statement, run, pays):
    effect = pays("ch_1", amount=3000)
    give(effect, "re_A", 1000)
    give(effect, "re_B", 1000)

    done = run(
        statement(
            line("charge", "ch_1", 3000),
            line("refund", "re_A", 1000, charge_ref="ch_1"),
            line("refund", "re_B", 1500, charge_ref="ch_1"),
        )
    )

    assert found(done) == [("amount_differs", "re_B", -500)]


def test_a_refund_that_came_back_is_found_whether_or_not_we_have_heard(statement, run, pays):
    heard, unheard = pays("ch_1"), pays("ch_2")
    give(heard, "re_1")
    give(heard, "re_1", outcome="failed", status="failed", occurred_at=NOW + timedelta(hours=3))
    give(unheard, "re_2")
    lines = [line("charge", "ch_1", 1900), line("charge", "ch_2", 1900)]
    for refund, charge in (("re_1", "ch_1"), ("re_2", "ch_2")):
        lines.append(line("refund", refund, 500, charge_ref=charge))
        lines.append(line("refund_failure", refund, 500, charge_ref=charge))

    done = run(statement(*lines))

    assert found(done) == [("refund_failed_later", "re_1", 500), ("refund_failed_later", "re_2", 500)]
    assert tied(done) == {"usd": (3300, 3800, 500, 0)}


def test_a_dispute_that_we_have_not_heard_of_is_open(statement, run, pays):
    effect = pays("ch_1")

    done = run(
        statement(
            line("charge", "ch_1", 1900),
            line("dispute", "dp_1", 1900, charge_ref="ch_1"),
            line("dispute", "dp_2", 700, charge_ref="ch_1"),
            line("dispute_reversal", "dp_2", 700, charge_ref="ch_1"),
        )
    )

    assert found(done) == [("dispute_open", "dp_1", 1900)]
    assert done.sightings.get().effect_id == effect.pk
