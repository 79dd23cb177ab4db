"""The story of the edited question that charged twice, under each key scope, by the processor's books."""

import pytest

from ledger.models import EffectUse, ToolEffect
from ledger.querysets import abandoned
from ledger.services.questions import answer_question
from tests.ledger.conftest import LATER

pytestmark = pytest.mark.django_db


@pytest.fixture
def tell(talk, charge, stripe_api):
    """Ask, buy, edit the question, let the model buy again; return what the customer was charged."""

    def story():
        talk.says("Hello")
        talk.replies()
        asked = talk.says("Buy plan A")
        charge(talk, talk.calls("toolu_1"), "toolu_1")
        talk.answers("toolu_1")
        talk.replies()
        talk.edits(asked, "Buy plan A, please")
        again = charge(talk, talk.calls("toolu_2"), "toolu_2")
        talk.answers("toolu_2")
        talk.replies()
        return again, taken(stripe_api)

    return story


def taken(stripe_api):
    return sorted(charge.amount for charge in stripe_api.charges.list().data)


def test_a_key_for_each_call_charges_the_edit_again(tell, register):
    register(key_scope="call", replay_policy="free")

    again, charged = tell()

    assert (again.begun.answer, charged) == ("proceed", [1900, 1900])
    assert abandoned().count() == 1


def test_a_key_for_each_call_and_a_tool_that_asks_charges_once_until_somebody_allows_it(
    tell, register, talk, charge, staff, stripe_api
):
    register(key_scope="call", replay_policy="ask")

    again, charged = tell()

    assert (again.begun.answer, charged) == ("ask", [1900])
    question = again.begun.question
    answer_question(question_id=question.pk, is_allowed=True, user=staff("ann"), now=LATER)
    charge(talk, question.seq, "toolu_2")
    assert taken(stripe_api) == [1900, 1900]


@pytest.mark.parametrize("scope", ["conversation", "branch_root"])
def test_a_key_that_the_edit_shares_charges_once_and_lives_on_both_branches(tell, register, scope):
    register(key_scope=scope, replay_policy="free")

    again, charged = tell()

    assert (again.begun.answer, charged) == ("replay", [1900])
    assert (ToolEffect.objects.count(), EffectUse.objects.count()) == (1, 1)
    assert abandoned().count() == 0


def test_a_key_of_the_conversation_swallows_a_second_purchase_in_a_later_turn(
    tell, register, talk, charge, stripe_api
):
    register(key_scope="conversation", replay_policy="free")
    tell()
    talk.says("One more of the same")

    more = charge(talk, talk.calls("toolu_3"), "toolu_3")

    assert (more.begun.answer, taken(stripe_api)) == ("replay", [1900])


def test_a_key_of_the_branch_root_lets_a_later_turn_buy_again(tell, register, talk, charge, stripe_api):
    register(key_scope="branch_root", replay_policy="free")
    tell()
    talk.says("One more of the same")

    more = charge(talk, talk.calls("toolu_3"), "toolu_3")

    assert (more.begun.answer, taken(stripe_api)) == ("proceed", [1900, 1900])


def test_the_default_asks_before_a_later_turn_buys_again(tell, register, talk, charge, stripe_api):
    register()
    tell()
    talk.says("One more of the same")

    more = charge(talk, talk.calls("toolu_3"), "toolu_3")

    assert (more.begun.answer, more.begun.reason, taken(stripe_api)) == ("ask", "same_arguments", [1900])


def test_another_amount_is_another_purchase_under_every_scope(talk, register, charge, stripe_api):
    register()
    asked = talk.says("Buy 2,000 credits")
    charge(talk, talk.calls("toolu_1"), "toolu_1")
    talk.edits(asked, "Sorry, 1,500 are enough")
    seq = talk.calls("toolu_2", arguments='{"order": 1042, "amount": 1500, "currency": "usd"}')

    again = charge(talk, seq, "toolu_2", amount=1500)

    assert (again.begun.answer, taken(stripe_api)) == ("proceed", [1500, 1900])
    [left_behind] = abandoned()
    assert (left_behind.call_id, left_behind.amount_settled_minor) == ("toolu_1", 1900)
