from dataclasses import replace

import pytest
from django.db import transaction

from conversations.errors import ConflictError, StoreError
from ledger.errors import InsideTransactionError
from ledger.models import Compensation, ToolEffect
from ledger.services.compensating import (
    approve_compensation,
    left_of,
    reject_compensation,
    request_compensation,
)
from ledger.services.refunding import due, send_refund
from ledger.services.refunds import take_refund
from ledger.services.settling import settle_effect
from ledger.vocabulary import CompensationReason, EffectState
from tests.ledger.conftest import LATER, NOW, SWEEPER
from tests.ledger.seen import charged, refunded

pytestmark = pytest.mark.django_db

HOUR = 3600


@pytest.fixture
def ann(staff):
    return staff("ann")


@pytest.fixture
def ben(staff):
    return staff("ben")


@pytest.fixture
def paid(talk, charge_card, charge):
    talk.says()
    return charge(talk, talk.calls("toolu_1"), "toolu_1").effect


@pytest.fixture
def ask(ann, clock):
    def make(effect, amount=1900):
        return request_compensation(
            effect_id=effect.pk,
            amount_minor=amount,
            reason=CompensationReason.DUPLICATE,
            user=ann,
            now=clock(),
            note="charged twice",
        )

    return make


@pytest.fixture
def approved(paid, ask, ben, clock):
    def make(amount=1900):
        return approve_compensation(compensation_id=ask(paid, amount).pk, user=ben, now=clock())

    return make


def send(compensation, clock):
    word = send_refund(compensation_id=compensation.pk, actor=SWEEPER, now=clock())
    compensation.refresh_from_db()
    compensation.effect.refresh_from_db()
    return word


def test_a_request_reserves_its_amount(paid, ask):
    compensation = ask(paid, 1000)

    paid.refresh_from_db()
    assert (compensation.state, paid.amount_reserved_minor, left_of(paid)) == ("requested", 1000, 900)
    assert [note.text for note in compensation.notes.all()] == ["charged twice"]


def test_requests_never_add_up_past_the_charge(paid, ask):
    ask(paid, 1000)

    with pytest.raises(ConflictError) as refused:
        ask(paid, 901)

    assert refused.value.rule == "more-than-is-left"
    assert Compensation.objects.count() == 1


@pytest.mark.parametrize(
    ("currency", "whole", "part"), [("kwd", 5120, 1234), ("isk", 50000, 50), ("ugx", 500000, 199)]
)
def test_a_part_that_the_processor_cannot_move_is_refused_before_anybody_approves(
    talk, charge_card, ask, currency, whole, part
):
    talk.says()
    bought = talk.begins(talk.calls("toolu_1"), "toolu_1", amount_minor=whole, currency=currency).effect
    seen = charged(amount_minor=whole, currency=currency)
    paid = settle_effect(effect_id=bought.pk, seen=seen, actor=SWEEPER, now=NOW).effect

    with pytest.raises(StoreError) as refused:
        ask(paid, part)

    assert refused.value.rule == "amount-not-payable"
    assert ask(paid, 100).amount_minor == 100
    assert ask(paid, whole - 100).amount_minor == whole - 100


def test_only_a_settled_charge_can_be_given_back(bought, ann):
    with pytest.raises(ConflictError) as refused:
        request_compensation(
            effect_id=bought.pk, amount_minor=1, reason=CompensationReason.ERROR, user=ann, now=NOW
        )

    assert refused.value.rule == "nothing-to-give-back"


def test_who_asked_cannot_approve(paid, ask, ann):
    compensation = ask(paid)

    with pytest.raises(StoreError) as refused:
        approve_compensation(compensation_id=compensation.pk, user=ann, now=LATER)

    assert refused.value.rule == "same-person"
    compensation.refresh_from_db()
    assert compensation.state == "requested"


def test_a_rejection_frees_what_was_reserved(paid, ask, ben):
    reject_compensation(compensation_id=ask(paid).pk, user=ben, now=LATER, note="no")

    paid.refresh_from_db()
    assert (paid.amount_reserved_minor, left_of(paid)) == (0, 1900)


def test_a_decision_is_made_once(paid, ask, ben, staff):
    compensation = ask(paid)
    approve_compensation(compensation_id=compensation.pk, user=ben, now=LATER)

    with pytest.raises(ConflictError) as refused:
        reject_compensation(compensation_id=compensation.pk, user=staff("cleo"), now=LATER)

    assert refused.value.rule == "decided-already"


def test_an_approved_refund_is_sent_under_its_own_key_and_settles(approved, clock, stripe_api):
    compensation = approved()

    assert send(compensation, clock) == "settled"

    [refund] = stripe_api.refunds.list().data
    assert (compensation.external_ref, refund.reason) == (refund.id, "duplicate")
    assert refund.metadata["counterfoil_compensation"] == str(compensation.pk)
    assert (compensation.effect.state, compensation.effect.compensated_by) == ("compensated", refund.id)
    assert compensation.effect.idempotency_key != compensation.idempotency_key


def test_parts_compensate_only_when_they_are_the_whole(approved, clock):
    first, second = approved(1000), approved(900)

    send(first, clock)
    assert first.effect.state == "applied"
    send(second, clock)

    assert (second.effect.state, second.effect.amount_compensated_minor) == ("compensated", 1900)


def test_a_refund_whose_answer_was_lost_is_found_and_not_sent_twice(approved, clock, processor, stripe_api):
    compensation = approved()
    processor.ask_for("answer_lost", path="/v1/refunds")
    assert send(compensation, clock) == "unknown"
    processor.turn_clock(seconds=180)
    assert list(due(now=clock())) == [compensation]

    assert send(compensation, clock) == "settled"

    assert len(stripe_api.refunds.list().data) == 1


def test_a_refund_that_never_arrived_is_sent_again_under_the_same_key(approved, clock, processor, stripe_api):
    compensation = approved()
    processor.ask_for("cut_before", path="/v1/refunds")
    assert send(compensation, clock) == "unknown"
    processor.turn_clock(seconds=180)

    assert send(compensation, clock) == "settled"

    assert len(stripe_api.refunds.list().data) == 1


def test_a_refund_is_not_sent_again_once_its_key_may_be_forgotten(approved, clock, processor, stripe_api):
    compensation = approved()
    processor.ask_for("cut_before", path="/v1/refunds")
    send(compensation, clock)

    processor.turn_clock(seconds=24 * HOUR)
    assert send(compensation, clock) == "unknown"
    processor.turn_clock(seconds=HOUR + 60)
    assert send(compensation, clock) == "absent"

    assert (compensation.state, compensation.failure_code) == ("failed", "absent")
    assert (stripe_api.refunds.list().data, left_of(compensation.effect)) == ([], 1900)


@pytest.mark.parametrize(
    ("outcome", "state", "left"),
    [
        (EffectState.PENDING, "sent", 0),
        (EffectState.APPLIED, "settled", 0),
        (EffectState.FAILED, "failed", 1900),
    ],
)
def test_a_refund_given_up_as_absent_is_what_the_processor_says_after_all(
    approved, clock, processor, paid, outcome, state, left
):
    """Even where another request took the room meanwhile: evidence is never refused."""
    compensation = approved(amount=1900)
    processor.ask_for("cut_before", path="/v1/refunds")
    send(compensation, clock)
    processor.turn_clock(seconds=25 * HOUR + 60)
    assert send(compensation, clock) == "absent"
    if state != "failed":
        approved(amount=1900)
    seen = refunded(
        "re_late",
        charge=paid.external_ref,
        amount_minor=1900,
        outcome=outcome,
        status=str(outcome),
        compensation_id=compensation.pk,
        occurred_at=clock(),
    )

    taken = [
        take_refund(effect_id=paid.pk, seen=each, actor=SWEEPER, now=clock())
        for each in (seen, seen, replace(seen, outcome=EffectState.APPLIED))
    ]

    assert [(one.compensation.pk, one.compensation.state) for one in taken[:2]] == [
        (compensation.pk, state)
    ] * 2
    assert taken[2].compensation.state == ("failed" if state == "failed" else "settled")
    assert taken[0].compensation.external_ref == "re_late"
    assert left_of(taken[0].compensation.effect) == left


def test_a_refund_that_the_processor_refuses_fails_with_its_word(approved, clock, processor, paid):
    compensation = approved()
    processor.open_dispute(paid.external_ref)

    assert send(compensation, clock) == "refused"

    assert (compensation.state, compensation.failure_code) == ("failed", "charge_disputed")
    assert left_of(compensation.effect) == 1900


def test_a_charge_that_the_processor_does_not_know_is_no_sign_that_it_is_down(approved, clock, processor):
    compensation = approved()
    processor.ask_for("answer_lost", path="/v1/refunds")
    assert send(compensation, clock) == "unknown"
    ToolEffect.objects.update(external_ref="ch_of_another_account")

    assert send(compensation, clock) == "not_told"

    assert (compensation.state, left_of(compensation.effect)) == ("sent", 0)


def test_a_refund_is_not_sent_where_the_dashboard_was_quicker(approved, clock, paid, give_back, stripe_api):
    compensation = approved()
    give_back(paid, 1900, charge=paid.external_ref)

    assert send(compensation, clock) == "not_sent"

    assert (compensation.state, compensation.failure_code) == ("failed", "more_than_is_left")
    assert (compensation.sent_at, stripe_api.refunds.list().data) == (None, [])


def test_nothing_is_sent_inside_a_transaction(approved, clock, stripe_api):
    compensation = approved()

    with pytest.raises(InsideTransactionError), transaction.atomic():
        send(compensation, clock)

    assert stripe_api.refunds.list().data == []


def test_a_yen_refund_is_a_whole_number_of_yen(talk, register, charge, ask, ben, clock, stripe_api):
    register("send_gift_card", amount_unit="major")
    talk.says()
    seq = talk.calls("toolu_1", name="send_gift_card", arguments='{"amount": "5800", "currency": "JPY"}')
    effect = charge(talk, seq, "toolu_1", amount=5800, currency="jpy").effect
    compensation = approve_compensation(compensation_id=ask(effect, 580).pk, user=ben, now=clock())

    send(compensation, clock)

    assert stripe_api.refunds.list().data[0].amount == 580
    assert (compensation.effect.amount_compensated_minor, left_of(compensation.effect)) == (580, 5220)
