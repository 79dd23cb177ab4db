"""The sandbox's objects have the fields and types of the real ones, all of them and no others."""

import pytest
import stripe

from tests.samples import processor_shapes as shapes


@pytest.fixture
def books(processor, stripe_api, pay):
    """One of everything, in each of the states that change its fields."""
    customer = stripe_api.customers.create({"email": "rosa@example.com"})
    intent = pay(customer=customer.id, metadata={"effect": "e-1"})
    processor.fail_refund(stripe_api.refunds.create({"payment_intent": intent.id})["id"])
    stripe_api.refunds.create({"payment_intent": intent.id, "amount": 5})
    held = pay(capture_method="manual")
    stripe_api.payment_intents.capture(held.id, {"amount_to_capture": 100})
    stripe_api.payment_intents.cancel(pay(capture_method="manual").id)
    pay(payment_method="pm_card_authenticationRequired")
    with pytest.raises(stripe.CardError):
        pay(payment_method="pm_card_chargeDeclined")
    disputed = processor.open_dispute(pay().latest_charge)
    processor.close_dispute(disputed["id"], status="won")
    processor.open_dispute(pay().latest_charge, inquiry=True)
    processor.pull("settlement", {"currency": "usd", "rates": {"eur": "1.08"}})
    pay(currency="eur")
    return processor.books()


@pytest.mark.parametrize(
    ("kind", "shape", "count"),
    [
        ("payment_intents", shapes.PAYMENT_INTENT, 8),
        ("charges", shapes.CHARGE, 7),
        ("disputes", shapes.DISPUTE, 2),
        ("balance_transactions", shapes.BALANCE_TRANSACTION, 11),
        ("customers", shapes.CUSTOMER, 1),
    ],
)
def test_each_object_has_exactly_the_fields_of_its_kind(books, kind, shape, count):
    assert len(books[kind]) == count
    assert [line for body in books[kind] for line in shapes.differences(body, shape, body["id"])] == []


def test_a_failed_refund_says_more_than_one_that_did_not(books):
    failed, *others = books["refunds"]

    assert shapes.differences(failed, shapes.FAILED_REFUND) == []
    assert [shapes.differences(refund, shapes.REFUND) for refund in others] == [[], []]


def test_events_tell_what_was_before_only_where_something_was(books):
    shape_of_change = {**shapes.EVENT, "data": {"object": dict, "previous_attributes": dict}}
    for event in books["events"]:
        has_before = "previous_attributes" in event["data"]
        assert shapes.differences(event, shape_of_change if has_before else shapes.EVENT, event["type"]) == []
    changed = {event["type"] for event in books["events"] if "previous_attributes" in event["data"]}
    assert changed == {"charge.refunded", "refund.updated", "charge.refund.updated"}


def test_a_webhook_endpoint_shows_its_secret_once(processor, stripe_api):
    made = stripe_api.webhook_endpoints.create({"url": "http://127.0.0.1:9/", "enabled_events": ["*"]})
    shape = shapes.WEBHOOK_ENDPOINT

    assert shapes.differences(made.to_dict(), {**shape, "secret": str}) == []
    assert shapes.differences(stripe_api.webhook_endpoints.retrieve(made.id).to_dict(), shape) == []


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"object": "list", "extra": 1}, ".extra: unknown"),
        ({}, ".object: missing"),
        ({"object": 5}, ".object: int"),
    ],
)
def test_a_difference_is_named_by_its_path(value, line):
    assert shapes.differences(value, {"object": str}) == [line]
