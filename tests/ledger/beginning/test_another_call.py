"""Another call for the same: an edit is given the outcome, a later turn asks."""

import pytest

from ledger.errors import KeyConflictError
from ledger.models import EffectUse, ToolEffect
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from tests.ledger.beginning.said import said
from tests.ledger.conftest import AGENT, LATER, NOW
from tests.ledger.seen import charged, declined

pytestmark = pytest.mark.django_db


def test_an_edit_of_the_turn_is_given_the_outcome_and_the_use_is_stored(talk, charge_card):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    talk.edits(asked, "Buy plan A, please")
    seq = talk.calls("toolu_2")

    begun = talk.begins(seq, "toolu_2")

    assert said(begun) == ("replay", "same_scope")
    assert begun.effect == first
    assert list(EffectUse.objects.values_list("seq", "call_id", "effect_id")) == [(seq, "toolu_2", first.pk)]
    assert said(talk.begins(seq, "toolu_2")) == ("replay", "same_scope")


def test_who_was_given_an_outcome_is_not_given_it_for_another_amount(talk, charge_card):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    talk.edits(asked, "Buy plan A, please")
    seq = talk.calls("toolu_2")
    talk.begins(seq, "toolu_2")

    with pytest.raises(KeyConflictError) as refused:
        talk.begins(seq, "toolu_2", amount_minor=2900)

    assert [str(one) for one in refused.value.differences] == ["amount 1900 vs 2900"]


def test_an_edit_asks_while_the_first_outcome_is_unknown(talk, charge_card):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    talk.edits(asked, "Buy plan A, please")

    begun = talk.begins(talk.calls("toolu_2"), "toolu_2")

    assert said(begun) == ("ask", "earlier_unknown")
    assert begun.earlier == first
    assert ToolEffect.objects.count() == 1


def test_what_was_given_back_is_not_handed_out_again(talk, charge_card, give_back):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    give_back(first, 1900)
    talk.edits(asked)

    begun = talk.begins(talk.calls("toolu_2"), "toolu_2")

    assert said(begun) == ("ask", "same_scope")


def test_a_later_turn_with_the_same_arguments_asks(talk, charge_card):
    talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    talk.answers("toolu_1")
    talk.replies()
    talk.says("The same again")

    begun = talk.begins(talk.calls("toolu_2"), "toolu_2")

    assert said(begun) == ("ask", "same_arguments")
    assert begun.earlier == first
    assert begun.question.is_allowed is None


def test_a_declined_charge_may_be_tried_again_in_the_same_turn(talk, charge_card):
    talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=declined(), actor=AGENT, now=LATER)
    talk.answers("toolu_1")

    begun = talk.begins(talk.calls("toolu_2"), "toolu_2")

    assert said(begun) == ("proceed", "first")
    assert begun.key != first.idempotency_key


def test_a_declined_charge_is_no_outcome_for_an_edit_either(talk, charge_card):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=declined(), actor=AGENT, now=LATER)
    talk.edits(asked)

    begun = talk.begins(talk.calls("toolu_2"), "toolu_2")

    assert said(begun) == ("proceed", "first")
    assert begun.key != first.idempotency_key


def test_two_equal_tickets_of_one_go_are_two(talk, register):
    register(replay_policy="free")
    talk.says("Two tickets")
    seq = talk.calls("toolu_1", "toolu_2")

    first, second = talk.begins(seq, "toolu_1"), talk.begins(seq, "toolu_2")

    assert (said(first), said(second)) == (("proceed", "first"), ("proceed", "first"))
    assert [effect.key_counter for effect in ToolEffect.objects.order_by("call_id")] == [1, 2]
    assert first.key != second.key


def test_a_second_call_after_a_timeout_asks_even_of_a_tool_that_may_be_repeated(talk, register):
    register(replay_policy="free")
    talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    mark_sent(effect_id=first.pk, now=NOW)
    talk.answers("toolu_1")

    begun = talk.begins(talk.calls("toolu_2"), "toolu_2", now=LATER)

    assert said(begun) == ("ask", "earlier_unknown")
    assert begun.earlier == first


def test_a_tool_never_to_be_run_again_asks_whatever_its_arguments(talk, register):
    register(replay_policy="never")
    talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    talk.answers("toolu_1")
    other = talk.calls("toolu_2", arguments='{"order": 7, "amount": 5, "currency": "usd"}')

    begun = talk.begins(other, "toolu_2")

    assert said(begun) == ("ask", "never_again")
    assert begun.earlier == first
