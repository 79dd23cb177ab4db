import pytest

from conversations.errors import NotFoundError, StoreError
from ledger.errors import CallNotRecordedError, KeyConflictError
from ledger.models import EffectUse, GuardQuestion, ToolEffect
from ledger.services.beginning import Begun
from ledger.services.questions import answer_question
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.vocabulary import EffectState
from tests.ledger.conftest import AGENT, LATER, NOW
from tests.ledger.seen import charged, declined

pytestmark = pytest.mark.django_db


def said(begun: Begun) -> tuple[str, str]:
    return begun.answer.value, begun.reason.value


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
