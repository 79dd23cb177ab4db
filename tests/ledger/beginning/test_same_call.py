"""The same call again resumes, replays or asks; its key is for nothing else."""

import pytest

from ledger.errors import KeyConflictError
from ledger.models import GuardQuestion, ToolEffect
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import EffectState
from tests.ledger.beginning.said import said
from tests.ledger.conftest import AGENT, LATER, NOW
from tests.ledger.seen import charged

pytestmark = pytest.mark.django_db


def test_the_same_call_resumes_under_its_key_while_the_key_lives(talk, bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    again = talk.begins(bought.call_seq, "toolu_1", now=LATER)

    assert said(again) == ("resume", "same_call")
    assert again.key == bought.idempotency_key
    assert ToolEffect.objects.count() == 1


def test_the_same_call_asks_once_its_key_may_be_forgotten(talk, bought):
    mark_sent(effect_id=bought.pk, now=NOW)

    again = talk.begins(bought.call_seq, "toolu_1", now=NOW.replace(day=NOW.day + 1))

    assert said(again) == ("ask", "key_expired")
    assert (again.key, again.question, again.earlier) == ("", None, bought)


def test_the_same_call_is_given_its_own_outcome_once_it_is_settled(talk, bought):
    settle_effect(effect_id=bought.pk, seen=charged(), actor=AGENT, now=LATER)

    again = talk.begins(bought.call_seq, "toolu_1")

    assert said(again) == ("replay", "same_call")
    assert again.effect.external_ref == "ch_1"
    assert again.key == ""


def test_a_key_of_one_call_is_refused_for_another_amount_with_both_shown(talk, bought):
    with pytest.raises(KeyConflictError) as refused:
        talk.begins(bought.call_seq, "toolu_1", amount_minor=700, currency="usd")

    assert [str(difference) for difference in refused.value.differences] == ["amount 1900 vs 700"]
    assert refused.value.key == bought.idempotency_key
    assert ToolEffect.objects.get().state == "pending"


def test_a_key_of_one_call_is_refused_for_another_operation_with_both_shown(talk, bought):
    with pytest.raises(KeyConflictError) as refused:
        talk.begins(bought.call_seq, "toolu_1", operation="refund")

    assert "op charge vs refund" in str(refused.value)
    assert ToolEffect.objects.get().state == "pending"


def test_a_question_that_has_answered_itself_is_withdrawn(talk, charge_card):
    asked = talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    talk.edits(asked, "Buy plan A, please")
    seq = talk.calls("toolu_2")
    talk.begins(seq, "toolu_2")
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)

    assert said(talk.begins(seq, "toolu_2")) == ("replay", "same_scope")

    assert GuardQuestion.objects.count() == 0
    assert EffectState(first.moves.last().to_state) == "applied"
