"""What the conversations say: abandoned charges, charges of two branches, what has no answer."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from conversations.services.heads import switch_head
from ledger.models import EffectUse
from ledger.services.detaching import detach_effects
from ledger.services.disputes import take_dispute
from ledger.services.questions import answer_question
from ledger.services.refunds import take_refund
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from tests.conversations.conftest import CUSTOMER, NOW
from tests.ledger.conftest import Talk
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, found
from tests.ledger.seen import AGENT, charged, disputed, refunded

pytestmark = pytest.mark.django_db

ORDER = '{"order": 1042, "amount": 1900, "currency": "usd"}'


def move_head(talk: Talk, seq: int, at=NOW) -> None:
    switch_head(conversation_id=talk.id, seq=seq, actor=CUSTOMER, now=at)


def bought(pays, talk, charge: str, *, below: int, **given):
    """A charge on a branch, its call answered and the branch gone on."""
    effect = pays(charge, talk=talk, below=below, **given)
    answered = talk.answers(effect.call_id, below=effect.call_seq)
    talk.replies(below=answered)
    return effect


def settle(effect, charge: str, *, at):
    seen = charged(
        charge, intent=f"pi_{charge}", amount_minor=effect.amount_minor, currency="usd", occurred_at=at
    )
    return settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=at).effect


def repeated(begins, talk, *, known_at=None, amount=1900, **again):
    """One call, answered with a timeout; 33 seconds later, on the same path, another that asks again."""
    first = begins(talk=talk, arguments=ORDER)
    if known_at is not None:
        first = settle(first, "ch_80", at=known_at)
    answered = talk.answers(first.call_id, below=first.call_seq)
    arguments = again.get("arguments", ORDER.replace("1900", str(amount)))
    seq = talk.calls("toolu_again", below=answered, arguments=arguments)
    at = NOW + timedelta(seconds=33)
    begun = talk.begins(seq, "toolu_again", now=at)
    if begun.question is not None:
        answer_question(question_id=begun.question.pk, is_allowed=True, user=person(), now=at)
        begun = talk.begins(seq, "toolu_again", now=at)
    mark_sent(effect_id=begun.effect.pk, now=at)
    return first, begun.effect


def person() -> User:
    return User.objects.create_user("approver")


def test_a_charge_on_the_branch_that_the_head_left_is_abandoned(run, pays, talk):
    asked = talk.says()
    left = bought(pays, talk, "ch_1", below=asked)
    bought(
        pays,
        talk,
        "ch_2",
        below=talk.edits(asked),
        arguments='{"other": 1, "amount": 1900, "currency": "usd"}',
    )

    done = run()

    assert ("abandoned", "ch_1", 1900) in found(done)
    assert done.sightings.get(kind="abandoned").effect_id == left.pk


def test_the_later_of_two_branches_charges_is_the_duplicate(run, pays, talk):
    asked = talk.says()
    first = bought(pays, talk, "ch_1", below=asked)
    bought(pays, talk, "ch_2", below=talk.edits(asked), amount=2500)

    done = run()

    assert found(done) == [("abandoned", "ch_1", 1900), ("duplicate", "ch_2", 2500)]
    assert done.sightings.get(kind="duplicate").facts == {"of": [str(first.pk)]}


def test_two_charges_of_one_turn_are_two_purchases(run, pays, talk):
    first = pays("ch_1", talk=talk, below=talk.says())
    pays("ch_2", talk=talk, below=talk.answers(first.call_id, below=first.call_seq))

    assert found(run()) == []


@pytest.mark.parametrize(
    "again",
    [{}, {"arguments": '{"order": 1042, "at": "10:20", "amount": 1900, "currency": "usd"}'}],
    ids=["same arguments", "same amount in one turn"],
)
def test_a_charge_repeated_before_the_first_was_known_is_a_duplicate(run, begins, talk, again):
    first, second = repeated(begins, talk, **again)
    settle(first, "ch_80", at=NOW + timedelta(seconds=40))
    settle(second, "ch_81", at=NOW + timedelta(seconds=35))

    done = run()

    assert found(done) == [("duplicate", "ch_81", 1900)]
    assert done.sightings.get().facts == {"of": [str(first.pk)]}


def test_a_charge_repeated_once_the_first_was_known_is_a_purchase(run, begins, talk):
    first, second = repeated(begins, talk, known_at=NOW + timedelta(seconds=5))

    settle(second, "ch_81", at=NOW + timedelta(seconds=35))

    assert first.state == "applied"
    assert found(run()) == []


def test_another_amount_asked_for_meanwhile_is_another_purchase(run, begins, talk):
    first, second = repeated(begins, talk, amount=2500)
    settle(first, "ch_80", at=NOW + timedelta(seconds=40))
    settle(second, "ch_81", at=NOW + timedelta(seconds=41))

    assert found(run()) == []


def test_a_head_moved_up_an_unforked_line_abandons_what_came_after(run, pays, talk):
    asked = talk.says()
    pays("ch_1", talk=talk, below=asked)

    move_head(talk, asked)

    assert found(run()) == [("abandoned", "ch_1", 1900)]


def test_the_head_is_that_of_the_cut_off(run, pays, talk):
    asked = talk.says()
    pays("ch_1", talk=talk, below=asked)
    move_head(talk, asked, at=CUT_OFF + timedelta(hours=1))

    assert found(run()) == []
    assert found(run(cut_off=CUT_OFF + DAY)) == [("abandoned", "ch_1", 1900)]


def test_a_charge_whose_outcome_the_live_branch_used_is_alive(run, pays, talk):
    asked = talk.says()
    effect = pays("ch_1", talk=talk, below=asked)
    seq = talk.calls("toolu_again", below=talk.edits(asked))
    EffectUse.objects.create(
        conversation_id=talk.id, seq=seq, call_id="toolu_again", effect=effect, used_at=NOW
    )

    assert found(run()) == []


def test_a_charge_below_the_other_of_two_roots_is_abandoned(run, pays, talk):
    root = talk.says()
    bought(pays, talk, "ch_1", below=root)
    talk.edits(root, "Start again")

    assert found(run()) == [("abandoned", "ch_1", 1900)]


def test_what_was_given_back_of_an_abandoned_charge_is_not_counted(run, pays, talk):
    asked = talk.says()
    effect = pays("ch_1", talk=talk, below=asked)
    move_head(talk, asked)
    take_refund(effect_id=effect.pk, seen=refunded(amount_minor=1000), actor=AGENT, now=NOW)

    assert found(run()) == [("abandoned", "ch_1", 900)]

    take_refund(effect_id=effect.pk, seen=refunded("re_2", amount_minor=900), actor=AGENT, now=NOW)
    assert found(run()) == []


def test_an_abandoned_charge_stays_one_when_its_conversation_goes(run, pays, talk):
    asked = talk.says()
    pays("ch_1", talk=talk, below=asked)
    move_head(talk, asked)

    detach_effects(conversation_id=talk.id, now=NOW)

    assert found(run()) == [("abandoned", "ch_1", 1900)]


def test_an_effect_without_an_answer_is_stale_after_the_policys_hours(run, begins):
    begins()

    assert found(run(cut_off=NOW + timedelta(minutes=30), until=NOW + timedelta(minutes=10))) == []
    assert found(run()) == [("stale_pending", "", 1900)]


def test_an_open_dispute_is_a_finding_until_it_is_decided(run, pays):
    effect = pays("ch_1")
    take_dispute(effect_id=effect.pk, seen=disputed(), now=NOW)
    later = CUT_OFF + timedelta(hours=1)
    won = disputed("won", is_open=False, occurred_at=later)
    take_dispute(effect_id=effect.pk, seen=won, now=later)

    assert found(run()) == [("dispute_open", "dp_1", 1900)]
    assert found(run(cut_off=CUT_OFF + DAY)) == []


def test_a_refund_that_failed_is_made_good_by_another(run, pays):
    effect = pays("ch_1")
    later = NOW + timedelta(hours=3)
    for seen in (
        refunded("re_1", amount_minor=1900),
        refunded("re_1", amount_minor=1900, outcome="failed", status="failed", occurred_at=later),
    ):
        take_refund(effect_id=effect.pk, seen=seen, actor=AGENT, now=NOW)
    assert found(run()) == [("refund_failed_later", "re_1", 1900)]

    again = refunded("re_2", amount_minor=1900, occurred_at=later + timedelta(hours=1))
    take_refund(effect_id=effect.pk, seen=again, actor=AGENT, now=NOW)

    assert found(run()) == []
