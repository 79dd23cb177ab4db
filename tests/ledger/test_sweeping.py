import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
import stripe
from django.db import transaction

from ledger.errors import InsideTransactionError
from ledger.models import Contradiction, ToolEffect
from ledger.processors.protocol import Sought
from ledger.processors.stripe.finding import find
from ledger.services.sweeping import due, look
from ledger.vocabulary import Operation
from tests.ledger.conftest import NOW, SWEEPER
from tests.ledger.stripe_events import charge as charge_object
from tests.ledger.stripe_events import event

pytestmark = pytest.mark.django_db

HOUR = 3600


@pytest.fixture
def seq(talk, charge_card):
    talk.says()
    return talk.calls("toolu_1")


@pytest.fixture
def lost(talk, seq, charge, processor):
    """Send a charge whose answer never comes; return its effect."""

    def make(fault="answer_lost", **options):
        params = options.pop("params", {})
        processor.ask_for(fault, **options)
        with pytest.raises(stripe.StripeError):
            charge(talk, seq, "toolu_1", **params)
        return ToolEffect.objects.get()

    return make


def sweep(effect, clock):
    word = look(effect_id=effect.pk, actor=SWEEPER, now=clock())
    effect.refresh_from_db()
    return word


def test_a_charge_whose_answer_was_lost_is_found_in_the_list(lost, clock, stripe_api):
    effect = lost()

    assert sweep(effect, clock) == "applied"

    [charge] = stripe_api.charges.list().data
    assert (effect.external_ref, effect.amount_settled_minor) == (charge.id, 1900)
    assert effect.moves.latest("number").source == "list"


def test_a_charge_is_found_among_its_customers(lost, clock, stripe_api):
    customer = stripe_api.customers.create({"email": "ines@example.com"})
    effect = lost(params={"customer": customer.id})
    ToolEffect.objects.filter(pk=effect.pk).update(find_by={"customer": customer.id})

    assert sweep(effect, clock) == "applied"


def test_a_known_intent_is_asked_for_by_its_id(talk, seq, charge_card, stripe_settings, stripe_api, clock):
    intent = stripe_api.payment_intents.create(
        {"amount": 1900, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}
    )
    begun = talk.begins(seq, "toolu_1", now=clock(), find_by={"payment_intent": intent.id})

    assert sweep(begun.effect, clock) == "applied"

    assert begun.effect.moves.latest("number").source == "retrieve"


def test_what_was_sent_without_metadata_is_found_by_its_key_in_the_events(
    talk, seq, charge_card, stripe_settings, stripe_api, clock
):
    begun = talk.begins(seq, "toolu_1", now=clock())
    stripe_api.payment_intents.create(
        {"amount": 1900, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True},
        {"idempotency_key": begun.key},
    )

    assert sweep(begun.effect, clock) == "applied"

    assert begun.effect.moves.latest("number").source == "events"


def test_a_charge_without_an_intent_is_found_by_its_key_in_the_events(bought):
    """The sandbox makes none: what Stripe answers is told here."""
    made = charge_object(payment_intent=None)
    body = json.loads(event("charge.succeeded", made, event_id="evt_1", key=bought.idempotency_key))

    def listed(*things):
        return lambda asked: SimpleNamespace(data=list(things), has_more=False)

    def events(asked):
        return listed(*[body] if body["type"] in asked["types"] else [])(asked)

    client = SimpleNamespace(
        v1=SimpleNamespace(
            payment_intents=SimpleNamespace(list=listed()), events=SimpleNamespace(list=events)
        )
    )
    sought = Sought(
        effect_id=bought.pk,
        operation=Operation.CHARGE,
        idempotency_key=bought.idempotency_key,
        references=[],
        customer="",
        since=NOW,
        until=NOW + timedelta(hours=26),
        now=NOW + timedelta(hours=27),
    )

    found = find(client, sought)

    assert [(one.outcome, one.reference) for one in found.seen] == [("applied", "ch_TEST0090")]
    assert not found.is_absent


def test_nothing_is_absent_where_the_events_were_not_read_to_their_end(
    talk, seq, charge_card, stripe_settings, stripe_api, clock, processor, monkeypatch
):
    monkeypatch.setattr("ledger.processors.stripe.finding.LIST_LIMIT", 2)
    customer = stripe_api.customers.create({"email": "ines@example.com"})
    begun = talk.begins(seq, "toolu_1", now=clock(), find_by={"customer": customer.id})
    order = {"amount": 1900, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}
    stripe_api.payment_intents.create({**order, "customer": customer.id}, {"idempotency_key": begun.key})
    for _ in range(2):
        stripe_api.payment_intents.create(order)
    processor.turn_clock(seconds=26 * HOUR)

    assert sweep(begun.effect, clock) == "unknown"

    monkeypatch.undo()
    assert sweep(begun.effect, clock) == "applied"


def test_a_declined_charge_whose_answer_was_lost_is_failed(lost, clock):
    effect = lost(params={"payment_method": "pm_card_chargeDeclined"})

    assert sweep(effect, clock) == "failed"


def test_a_saved_500_that_charged_all_the_same_is_applied(lost, clock):
    assert sweep(lost("error_500", executed=True), clock) == "applied"


def test_nothing_is_absent_while_its_key_could_still_act(lost, clock, processor):
    effect = lost("cut_before")
    processor.turn_clock(seconds=24 * HOUR + 1800)

    assert sweep(effect, clock) == "unknown"

    assert effect.state == "pending"


def test_absence_is_proven_after_the_keys_life_and_an_hour(lost, clock, processor, stripe_api):
    effect = lost("cut_before")
    processor.turn_clock(seconds=25 * HOUR + 60)

    assert sweep(effect, clock) == "absent"

    assert effect.state == "failed"
    assert effect.moves.latest("number").source == "absent"
    assert stripe_api.payment_intents.list().data == []


def test_a_processor_that_does_not_answer_leaves_the_effect_open(lost, clock, processor):
    effect = lost()
    processor.ask_for("cut_before", method="GET", times=9)

    assert sweep(effect, clock) == "unreachable"

    assert effect.state == "pending"


def test_the_sweeper_sends_nothing(lost, clock, processor):
    effect = lost("cut_before")
    before = len(processor.pull("requests", method="GET")["requests"])

    sweep(effect, clock)

    after = processor.pull("requests", method="GET")["requests"]
    assert {request["method"] for request in after[before:]} == {"GET"}


def test_two_charges_of_one_key_are_both_seen(lost, clock, processor, stripe_api):
    effect = lost()
    processor.turn_clock(seconds=24 * HOUR + 1)
    # Somebody sent it again by hand after the processor had forgotten the key.
    metadata = {"counterfoil_effect": str(effect.pk), "counterfoil_key": effect.idempotency_key}
    stripe_api.payment_intents.create(
        {
            "amount": 1900,
            "currency": "usd",
            "payment_method": "pm_card_visa",
            "confirm": True,
            "metadata": metadata,
        },
        {"idempotency_key": effect.idempotency_key},
    )

    assert sweep(effect, clock) == "applied"

    second, first = stripe_api.charges.list().data
    assert effect.external_ref == first.id
    assert list(Contradiction.objects.values_list("kind", "reference", "amount_minor")) == [
        ("second_charge", second.id, 1900)
    ]


def test_a_tool_without_an_adapter_stays_open(talk, seq, register, clock):
    register(processor="fax")
    effect = talk.begins(seq, "toolu_1", now=clock()).effect

    assert sweep(effect, clock) == "no_adapter"


def test_it_refuses_to_look_inside_a_transaction(lost, clock):
    effect = lost()

    with pytest.raises(InsideTransactionError), transaction.atomic():
        look(effect_id=effect.pk, actor=SWEEPER, now=clock())


def test_looks_grow_rarer_with_age(lost, clock):
    effect = lost("cut_before")
    now = clock()
    times = [timedelta(minutes=1), timedelta(minutes=3), timedelta(minutes=4), timedelta(hours=3)]

    looked = []
    for after in times:
        is_due = due(now=now + after).exists()
        if is_due:
            ToolEffect.objects.filter(pk=effect.pk).update(looked_at=now + after)
        looked.append(is_due)

    assert looked == [False, True, False, True]
