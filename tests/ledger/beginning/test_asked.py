"""What was asked is answered by a person, once."""

import pytest

from ledger.models import GuardQuestion, ToolEffect
from ledger.services.questions import answer_question
from ledger.services.settling import settle_effect
from tests.ledger.beginning.said import said
from tests.ledger.conftest import AGENT, LATER
from tests.ledger.seen import charged

pytestmark = pytest.mark.django_db


def test_an_ask_that_was_allowed_goes_ahead_once_under_a_key_of_its_own(talk, charge_card, staff):
    talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    talk.answers("toolu_1")
    talk.says("The same again")
    seq = talk.calls("toolu_2")
    question = talk.begins(seq, "toolu_2").question
    answer_question(question_id=question.pk, is_allowed=True, user=staff("ann"), now=LATER)

    begun = talk.begins(seq, "toolu_2", now=LATER)

    assert said(begun) == ("proceed", "allowed")
    assert begun.key not in ("", first.idempotency_key)
    assert GuardQuestion.objects.get().used_at == LATER
    assert said(talk.begins(seq, "toolu_2")) == ("resume", "same_call")


def test_an_ask_that_was_refused_stays_an_ask_and_says_so(talk, charge_card, staff):
    talk.says()
    first = talk.begins(talk.calls("toolu_1"), "toolu_1").effect
    settle_effect(effect_id=first.pk, seen=charged(), actor=AGENT, now=LATER)
    talk.answers("toolu_1")
    talk.says("The same again")
    seq = talk.calls("toolu_2")
    question = talk.begins(seq, "toolu_2").question
    answer_question(question_id=question.pk, is_allowed=False, user=staff("ann"), now=LATER)

    begun = talk.begins(seq, "toolu_2")

    assert begun.answer == "ask"
    assert begun.question.is_allowed is False
    assert ToolEffect.objects.count() == 1
