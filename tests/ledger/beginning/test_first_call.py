"""The first call of a tool proceeds with a key, or is refused."""

import pytest

from conversations.errors import NotFoundError, StoreError
from ledger.errors import CallNotRecordedError
from ledger.models import ToolEffect
from ledger.services.questions import answer_question
from tests.ledger.beginning.said import said
from tests.ledger.conftest import LATER

pytestmark = pytest.mark.django_db


def test_the_first_call_proceeds_with_a_key_and_a_row_that_says_nothing_was_sent(talk, charge_card):
    talk.says()
    begun = talk.begins(talk.calls("toolu_1"), "toolu_1")

    assert said(begun) == ("proceed", "first")
    effect = ToolEffect.objects.get()
    assert begun.key == effect.idempotency_key
    assert (effect.state, effect.sent_at, effect.amount_minor, effect.currency) == (
        "pending",
        None,
        1900,
        "usd",
    )
    assert [(move.number, move.to_state, move.source) for move in effect.moves.all()] == [
        (1, "pending", "begin")
    ]


def test_a_call_that_is_not_recorded_is_refused(talk, charge_card):
    seq = talk.says()

    with pytest.raises(CallNotRecordedError) as refused:
        talk.begins(seq, "toolu_1")

    assert refused.value.rule == "call-not-recorded"
    assert ToolEffect.objects.count() == 0


def test_a_conversation_of_another_realm_is_not_there(talk, charge_card, realm):
    talk.says()
    seq = talk.calls("toolu_1")

    with pytest.raises(NotFoundError):
        talk.begins(seq, "toolu_1", realm_id=realm.pk + 1)

    assert ToolEffect.objects.count() == 0


def test_a_tool_without_effect_proceeds_and_leaves_no_row(talk, register):
    register("get_order", effectful="no", replay_policy="free", processor="", amount_path="")
    talk.says()

    begun = talk.begins(talk.calls("toolu_1", name="get_order"), "toolu_1")

    assert said(begun) == ("proceed", "not_effectful")
    assert (begun.effect, begun.key, ToolEffect.objects.count()) == (None, "", 0)


def test_an_unregistered_tool_counts_as_effectful_and_asks(talk, realm, staff):
    talk.says()
    seq = talk.calls("toolu_1", name="send_fax")

    begun = talk.begins(seq, "toolu_1")

    assert said(begun) == ("ask", "unregistered")
    assert ToolEffect.objects.count() == 0
    answer_question(question_id=begun.question.pk, is_allowed=True, user=staff("ann"), now=LATER)
    assert said(talk.begins(seq, "toolu_1")) == ("proceed", "allowed")


@pytest.mark.parametrize(("amount", "answer"), [(5000, "first"), (4999, "not_effectful")])
def test_a_rule_decides_by_the_arguments(talk, register, amount, answer):
    rule = [{"path": "amount", "is": "greater", "value": 4999}]
    register(effectful="by_rule", rule=rule)
    talk.says()

    begun = talk.begins(
        talk.calls("toolu_1", arguments=f'{{"amount": {amount}, "currency": "usd"}}'), "toolu_1"
    )

    assert said(begun) == ("proceed", answer)


def test_an_amount_without_a_currency_is_refused(talk, register):
    register(currency_path="")
    talk.says()

    with pytest.raises(StoreError) as refused:
        talk.begins(talk.calls("toolu_1"), "toolu_1")

    assert refused.value.rule == "amount-without-currency"
    assert ToolEffect.objects.count() == 0
