import itertools

import pytest

from ledger.models import Compensation, Contradiction
from ledger.querysets import not_paid_back
from ledger.services.refunds import take_refund
from ledger.services.settling import settle_effect
from ledger.vocabulary import EffectState
from tests.ledger.conftest import AGENT, LATER, NOW
from tests.ledger.seen import charged, refunded

pytestmark = pytest.mark.django_db


@pytest.fixture
def paid(bought):
    settle_effect(effect_id=bought.pk, seen=charged(amount_minor=1900), actor=AGENT, now=LATER)
    bought.refresh_from_db()
    return bought


def take(effect, *seen):
    for one in seen:
        take_refund(effect_id=effect.pk, seen=one, actor=AGENT, now=LATER)
    effect.refresh_from_db()
    return effect.state, effect.amount_compensated_minor


def test_a_part_leaves_the_charge_applied(paid):
    assert take(paid, refunded(amount_minor=1000)) == ("applied", 1000)
    assert Compensation.objects.get().origin == "processor"


def test_two_equal_parts_are_two(paid):
    first, second = refunded("re_A", amount_minor=500), refunded("re_B", amount_minor=500)

    assert take(paid, first, second, second) == ("applied", 1000)

    assert Compensation.objects.count() == 2


def test_the_last_part_compensates_and_is_named(paid):
    assert take(paid, refunded("re_A", amount_minor=1000), refunded("re_B", amount_minor=900)) == (
        "compensated",
        1900,
    )
    assert paid.compensated_by == "re_B"
    assert paid.moves.latest("number").evidence_ref == "re_B"


def test_a_refund_that_fails_later_leaves_the_customer_charged_again(paid):
    take(paid, refunded(amount_minor=1900))
    failure = refunded(
        amount_minor=1900,
        outcome=EffectState.FAILED,
        failure_code="expired_or_canceled_card",
        occurred_at=LATER,
    )

    assert take(paid, failure) == ("applied", 0)

    assert paid.compensated_by == ""
    [lost] = not_paid_back()
    assert (lost.settled_at, lost.failed_at, lost.failure_code) == (NOW, LATER, "expired_or_canceled_card")
    assert [move.to_state for move in paid.moves.order_by("number")] == [
        "pending",
        "applied",
        "compensated",
        "applied",
    ]


def test_every_order_of_a_refunds_words_ends_alike(paid, bought):
    words = [
        refunded(outcome=EffectState.PENDING, status="pending"),
        refunded(),
        refunded(outcome=EffectState.FAILED, status="failed"),
    ]
    for number, order in enumerate(itertools.permutations(words)):
        for seen in order:
            one = refunded(f"re_{number}", outcome=seen.outcome, status=seen.status)
            take(paid, one)

    assert set(Compensation.objects.values_list("state", flat=True)) == {"failed"}
    assert paid.amount_compensated_minor == 0


def test_a_pending_refund_gives_nothing_back_yet(paid):
    assert take(paid, refunded(amount_minor=1900, outcome=EffectState.PENDING)) == ("applied", 0)
    assert take(paid, refunded(amount_minor=1900)) == ("compensated", 1900)


def test_a_refund_may_come_before_its_charge_is_settled(bought):
    assert take(bought, refunded(amount_minor=1900)) == ("pending", 1900)

    settle_effect(effect_id=bought.pk, seen=charged(), actor=AGENT, now=LATER)

    bought.refresh_from_db()
    assert (bought.state, bought.compensated_by) == ("compensated", "re_1")


def test_more_given_back_than_was_taken_is_taken_in_and_is_a_contradiction(paid):
    assert take(paid, refunded("re_A", amount_minor=1900), refunded("re_B", amount_minor=100)) == (
        "compensated",
        2000,
    )
    assert list(Contradiction.objects.filter(kind="refunded_past_settled").values_list("amount_minor")) == [
        (100,)
    ]


def test_a_refund_in_another_currency_is_a_contradiction_and_no_compensation(paid):
    assert take(paid, refunded(currency="eur")) == ("applied", 0)

    assert Compensation.objects.count() == 0
    assert Contradiction.objects.filter(kind="other_currency").count() == 1
