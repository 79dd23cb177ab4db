"""Events of one payment in every order: they end alike, and an older word undoes no newer one."""

import itertools

import pytest

from ledger.models import Contradiction, WebhookEvent
from ledger.services.sending import mark_sent
from tests.ledger.conftest import NOW
from tests.ledger.hearing import books, hear
from tests.ledger.stripe_events import CREATED, charge, refund

pytestmark = pytest.mark.django_db


def intent(status, **given):
    return {
        "id": "pi_TEST0090",
        "object": "payment_intent",
        "status": status,
        "amount_received": 5000 if status == "succeeded" else 0,
        "currency": "usd",
        "created": CREATED,
        **given,
    }


def hear_of(effect, kind, carried, *, event_id, after):
    if carried["object"] != "refund":
        carried = {**carried, "metadata": {"counterfoil_effect": str(effect.pk)}}
    return hear(kind, carried, event_id, created=CREATED + after)


DECLINED = intent(
    "requires_payment_method",
    latest_charge="ch_TEST0089",
    last_payment_error={"code": "card_declined", "charge": "ch_TEST0089"},
)
WORDS = {
    "d": ("payment_intent.payment_failed", DECLINED, 1),
    "c": ("charge.succeeded", charge(), 20),
    "p": ("refund.created", refund(status="pending"), 60),
    "r": ("refund.updated", refund(), 70),
}


@pytest.mark.parametrize("order", sorted(itertools.permutations("dcpr")), ids="".join)
def test_every_order_after_a_declined_attempt_of_the_same_intent_ends_alike(open_effect, order):
    for letter in order:
        kind, carried, after = WORDS[letter]
        hear_of(open_effect, kind, carried, event_id=f"evt_{letter}", after=after)

    assert books(open_effect) == ("applied", 5000, 1200)
    assert not WebhookEvent.objects.exclude(trouble="").exists()
    assert not Contradiction.objects.exists()


def test_a_failure_from_before_the_success_is_no_contradiction(open_effect):
    hear_of(open_effect, "payment_intent.succeeded", intent("succeeded"), event_id="evt_2", after=20)
    declined = intent("requires_payment_method", last_payment_error={"code": "card_declined"})
    hear_of(open_effect, "payment_intent.payment_failed", declined, event_id="evt_1", after=1)

    assert books(open_effect) == ("applied", 5000, 0)
    assert not Contradiction.objects.exists()


def test_a_failure_from_after_the_success_is_a_contradiction(open_effect):
    hear_of(open_effect, "payment_intent.succeeded", intent("succeeded"), event_id="evt_1", after=20)
    declined = intent("requires_payment_method", last_payment_error={"code": "bank_return"})
    hear_of(open_effect, "payment_intent.payment_failed", declined, event_id="evt_2", after=9000)

    assert books(open_effect) == ("applied", 5000, 0)
    assert Contradiction.objects.get().kind == "failed_after_applied"


@pytest.mark.parametrize("order", sorted(itertools.permutations("psf")), ids="".join)
def test_a_tools_refund_that_came_back_ends_alike_in_every_order(talk, register, order):
    register(name="refund_order", operation="refund")
    talk.says()
    seq = talk.calls("toolu_1", name="refund_order", arguments='{"amount": 1200, "currency": "usd"}')
    effect = talk.begins(seq, "toolu_1").effect
    mark_sent(effect_id=effect.pk, now=NOW)
    metadata = {"counterfoil_effect": str(effect.pk)}
    events = {
        "p": ("refund.created", refund(status="pending", metadata=metadata), 60),
        "s": ("refund.updated", refund(metadata=metadata), 120),
        "f": ("refund.failed", refund(status="failed", failure_reason="declined", metadata=metadata), 9000),
    }

    for letter in order:
        kind, carried, after = events[letter]
        hear_of(effect, kind, carried, event_id=f"evt_{letter}", after=after)

    effect.refresh_from_db()
    assert (effect.state, effect.amount_settled_minor) == ("compensated", 1200)
    assert effect.compensated_by == "re_TEST0090"
    assert not effect.contradictions.exists()
