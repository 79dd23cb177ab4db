import pytest
import stripe


def _types(stripe_api):
    return [event.type for event in stripe_api.events.list({"limit": 100}).data[::-1]]


def test_confirming_a_payment_intent_makes_one_charge_and_its_balance_row(stripe_api, pay):
    customer = stripe_api.customers.create({"email": "rosa@example.com"})

    intent = pay(
        customer=customer.id, metadata={"effect": "e-1"}, expand=["latest_charge.balance_transaction"]
    )

    charge = intent.latest_charge
    assert (intent.status, intent.amount_received) == ("succeeded", 2000)
    assert (charge.status, charge.captured, charge.amount_captured) == ("succeeded", True, 2000)
    assert (charge.customer, charge.payment_intent) == (customer.id, intent.id)
    assert charge.metadata.to_dict() == {"effect": "e-1"}
    row = charge.balance_transaction
    assert (row.amount, row.fee, row.net, row.source) == (2000, 88, 1912, charge.id)
    assert _types(stripe_api) == [
        "customer.created",
        "payment_intent.created",
        "charge.succeeded",
        "payment_intent.succeeded",
    ]


def test_an_intent_without_a_payment_method_waits_for_one(stripe_api):
    intent = stripe_api.payment_intents.create({"amount": 900, "currency": "eur"})
    assert intent.status == "requires_payment_method"

    confirmed = stripe_api.payment_intents.confirm(intent.id, {"payment_method": "pm_card_mastercard"})

    assert confirmed.status == "succeeded"
    assert (
        stripe_api.charges.retrieve(confirmed.latest_charge).payment_method_details.card.brand == "mastercard"
    )


def test_a_declined_card_leaves_a_failed_charge_and_an_intent_to_try_again(stripe_api, pay):
    with pytest.raises(stripe.CardError) as declined:
        pay(payment_method="pm_card_chargeDeclinedInsufficientFunds")

    error = declined.value.error
    assert (declined.value.http_status, error.code, error.decline_code) == (
        402,
        "card_declined",
        "insufficient_funds",
    )
    intent = stripe_api.payment_intents.retrieve(error.payment_intent["id"])
    assert (intent.status, intent.payment_method) == ("requires_payment_method", None)
    assert intent.last_payment_error.charge == error.charge
    again = stripe_api.payment_intents.confirm(intent.id, {"payment_method": "pm_card_visa"})
    assert again.status == "succeeded"
    charges = stripe_api.charges.list({"payment_intent": intent.id}).data
    assert [charge.status for charge in charges] == ["succeeded", "failed"]
    assert again.latest_charge == charges[0].id


def test_a_partial_capture_releases_the_rest_as_a_refund_of_its_own(stripe_api, pay):
    intent = pay(capture_method="manual")
    assert (intent.status, intent.amount_capturable) == ("requires_capture", 2000)
    assert stripe_api.charges.retrieve(intent.latest_charge).balance_transaction is None

    captured = stripe_api.payment_intents.capture(intent.id, {"amount_to_capture": 1500})

    assert (captured.status, captured.amount_received, captured.amount_capturable) == ("succeeded", 1500, 0)
    charge = stripe_api.charges.retrieve(intent.latest_charge)
    assert (charge.amount, charge.amount_captured, charge.amount_refunded) == (2000, 1500, 500)
    assert charge.refunded is False
    rows = stripe_api.balance_transactions.list().data[::-1]
    assert [(row.amount, row.type, row.reporting_category) for row in rows] == [
        (2000, "charge", "charge"),
        (-500, "refund", "partial_capture_reversal"),
    ]


def test_capturing_more_than_was_authorised_is_refused(stripe_api, pay):
    intent = pay(capture_method="manual")

    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.payment_intents.capture(intent.id, {"amount_to_capture": 2001})

    assert (refused.value.code, refused.value.param) == ("amount_too_large", "amount_to_capture")
    assert stripe_api.payment_intents.retrieve(intent.id).status == "requires_capture"


def test_canceling_an_authorisation_gives_it_back_without_a_balance_row(stripe_api, pay):
    intent = pay(capture_method="manual")

    canceled = stripe_api.payment_intents.cancel(intent.id, {"cancellation_reason": "requested_by_customer"})

    assert (canceled.status, canceled.cancellation_reason) == ("canceled", "requested_by_customer")
    charge = stripe_api.charges.retrieve(intent.latest_charge)
    assert (charge.captured, charge.refunded, charge.amount_refunded) == (False, True, 2000)
    assert stripe_api.balance_transactions.list().data == []


def test_an_authorisation_that_nobody_captures_expires_after_seven_days(processor, stripe_api, pay):
    intent = pay(capture_method="manual")

    processor.turn_clock(seconds=7 * 24 * 3600)

    expired = stripe_api.payment_intents.retrieve(intent.id)
    assert (expired.status, expired.cancellation_reason) == ("canceled", "automatic")
    assert _types(stripe_api)[-2:] == ["charge.expired", "payment_intent.canceled"]


def test_a_paid_intent_cannot_be_canceled(stripe_api, pay):
    intent = pay()

    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.payment_intents.cancel(intent.id)

    assert refused.value.code == "payment_intent_unexpected_state"
    assert refused.value.error.payment_intent["id"] == intent.id
    assert stripe_api.payment_intents.retrieve(intent.id).status == "succeeded"


def test_a_card_is_kept_with_its_customer_and_charged_again(stripe_api, pay):
    customer = stripe_api.customers.create({"name": "Rosa"})

    card = stripe_api.payment_methods.attach("pm_card_mastercard", {"customer": customer.id})

    assert (card.customer, card.card.last4) == (customer.id, "4444")
    assert stripe_api.payment_methods.retrieve(card.id).customer == customer.id
    assert pay(customer=customer.id, payment_method=card.id).payment_method == card.id


def test_a_card_that_asks_for_authentication_charges_nothing(stripe_api, pay):
    intent = pay(payment_method="pm_card_authenticationRequired")

    assert (intent.status, intent.latest_charge) == ("requires_action", None)
    assert stripe_api.charges.list().data == []


def test_metadata_is_merged_and_an_empty_value_removes_its_key(stripe_api, pay):
    intent = pay(metadata={"effect": "e-1", "tool": "charge_card"})

    changed = stripe_api.payment_intents.update(intent.id, {"metadata": {"tool": "", "turn": "4"}})

    assert changed.metadata.to_dict() == {"effect": "e-1", "turn": "4"}


@pytest.mark.parametrize(
    ("given", "code", "param"),
    [
        ({"amount": "ten"}, "parameter_invalid_integer", "amount"),
        ({"amount": -5}, "parameter_invalid_integer", "amount"),
        ({"amount": 49}, "amount_too_small", "amount"),
        ({"amount": 10**12}, "amount_too_large", "amount"),
        ({"currency": "zzz"}, None, "currency"),
        ({"colour": "red"}, "parameter_unknown", "colour"),
        ({"customer": "cus_nobody"}, "resource_missing", "customer"),
        ({"payment_method": "pm_nothing"}, "resource_missing", "payment_method"),
        ({"metadata": {"k" * 41: "v"}}, None, f"metadata[{'k' * 41}]"),
        ({"metadata": {"k": "v" * 501}}, None, "metadata[k]"),
        ({"expand": ["client_secret"]}, None, "expand"),
    ],
)
def test_a_wrong_parameter_is_named_and_nothing_is_charged(stripe_api, pay, given, code, param):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        pay(**given)

    assert (refused.value.http_status, refused.value.code, refused.value.param) == (400, code, param)
    assert refused.value.request_id.startswith("req_")
    assert stripe_api.payment_intents.list().data == []


def test_a_missing_parameter_is_named(stripe_api):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.payment_intents.create({"amount": 100})

    assert (refused.value.code, refused.value.param) == ("parameter_missing", "currency")


def test_an_unknown_intent_is_a_404(stripe_api):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.payment_intents.retrieve("pi_none")

    assert (refused.value.http_status, refused.value.code) == (404, "resource_missing")


def test_a_wrong_api_key_is_refused(processor):
    client = stripe.StripeClient("sk_test_of_somebody_else", base_addresses={"api": processor.base_url})

    with pytest.raises(stripe.AuthenticationError):
        client.v1.payment_intents.list()
