import pytest
import stripe

from samples.processor.process import LeverRefusedError

DAY = 24 * 3600


def test_partial_refunds_add_up_until_the_charge_is_exhausted(stripe_api, pay):
    intent = pay(amount=3000)

    refunds = [stripe_api.refunds.create({"payment_intent": intent.id, "amount": 1000}) for _ in range(2)]

    charge = stripe_api.charges.retrieve(intent.latest_charge)
    assert (charge.amount_refunded, charge.refunded) == (2000, False)
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.refunds.create({"charge": charge.id, "amount": 1500})
    assert str(refused.value.user_message) == (
        "Refund amount ($15.00) is greater than unrefunded amount on charge ($10.00)"
    )
    assert (refused.value.code, refused.value.param) == (None, "amount")
    listed = stripe_api.refunds.list({"charge": charge.id}).data
    assert [refund.id for refund in listed] == [refunds[1].id, refunds[0].id]


def test_a_refund_without_an_amount_takes_all_that_is_left(stripe_api, pay):
    intent = pay()
    stripe_api.refunds.create({"payment_intent": intent.id, "amount": 700})

    rest = stripe_api.refunds.create({"payment_intent": intent.id, "reason": "requested_by_customer"})

    assert (rest.amount, rest.reason, rest.status) == (1300, "requested_by_customer", "succeeded")
    assert stripe_api.charges.retrieve(intent.latest_charge).refunded is True
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.refunds.create({"payment_intent": intent.id, "amount": 1})
    assert refused.value.code == "charge_already_refunded"


def test_a_refund_tells_its_events_and_its_balance_row(stripe_api, pay):
    intent = pay()

    refund = stripe_api.refunds.create(
        {"payment_intent": intent.id, "amount": 500, "metadata": {"request_id": "r-1"}},
        {"idempotency_key": "refund-1"},
    )

    created, refunded = stripe_api.events.list({"types": ["refund.created", "charge.refunded"]}).data[::-1]
    assert created.data.object.id == refund.id
    assert created.data.object.metadata.request_id == "r-1"
    assert created.request.idempotency_key == "refund-1"
    assert refunded.data.object.amount_refunded == 500
    assert refunded.data.previous_attributes.amount_refunded == 0
    row = stripe_api.balance_transactions.retrieve(refund.balance_transaction)
    assert (row.amount, row.fee, row.net, row.type, row.source) == (-500, 0, -500, "refund", refund.id)


def test_a_refund_that_fails_later_brings_the_money_back_as_a_row_of_its_own(processor, stripe_api, pay):
    intent = pay()
    refund = stripe_api.refunds.create({"payment_intent": intent.id})

    processor.fail_refund(refund.id, reason="lost_or_stolen_card")

    failed = stripe_api.refunds.retrieve(refund.id)
    assert (failed.status, failed.failure_reason) == ("failed", "lost_or_stolen_card")
    row = stripe_api.balance_transactions.retrieve(failed.failure_balance_transaction)
    assert (row.amount, row.reporting_category, row.source) == (2000, "refund_failure", refund.id)
    charge = stripe_api.charges.retrieve(intent.latest_charge)
    assert (charge.amount_refunded, charge.refunded) == (0, False)
    types = ["refund.failed", "refund.updated", "charge.refund.updated"]
    events = stripe_api.events.list({"types": types}).data[::-1]
    assert [event.type for event in events] == types
    assert [event.request.id for event in events] == [None, None, None]
    # The event that is named after the charge holds the refund.
    assert events[2].data.object.object == "refund"


def test_the_card_whose_refunds_fail_does_so_after_two_days(processor, stripe_api, pay):
    intent = pay(payment_method="pm_card_refundFail")
    refund = stripe_api.refunds.create({"payment_intent": intent.id})
    processor.turn_clock(seconds=2 * DAY - 60)
    assert stripe_api.refunds.retrieve(refund.id).status == "succeeded"

    processor.turn_clock(seconds=60)

    assert stripe_api.refunds.retrieve(refund.id).status == "failed"


def test_a_pending_refund_succeeds_by_itself(processor, stripe_api, pay):
    intent = pay(payment_method="pm_card_pendingRefund")
    refund = stripe_api.refunds.create({"payment_intent": intent.id})
    assert refund.status == "pending"

    processor.turn_clock(seconds=3600)

    assert stripe_api.refunds.retrieve(refund.id).status == "succeeded"


def test_a_refund_made_in_the_dashboard_names_a_request_but_no_key(processor, stripe_api, pay):
    intent = pay()

    refund = processor.pull("refunds", {"charge": intent.latest_charge, "amount": 300})

    (event,) = stripe_api.events.list({"type": "refund.created"}).data
    assert event.data.object.id == refund["id"]
    assert event.request.id.startswith("req_")
    assert event.request.idempotency_key is None


@pytest.mark.parametrize("amount", [0, -5, 2001, "300"])
def test_a_refund_in_the_dashboard_keeps_to_the_charge(processor, stripe_api, pay, amount):
    intent = pay()

    with pytest.raises(LeverRefusedError):
        processor.pull("refunds", {"charge": intent.latest_charge, "amount": amount})

    assert stripe_api.refunds.list().data == []


def test_an_uncaptured_charge_cannot_be_refunded(stripe_api, pay):
    intent = pay(capture_method="manual")

    with pytest.raises(stripe.InvalidRequestError):
        stripe_api.refunds.create({"payment_intent": intent.id})
    with pytest.raises(stripe.InvalidRequestError):
        stripe_api.refunds.create({"charge": intent.latest_charge})

    assert stripe_api.refunds.list().data == []


@pytest.mark.parametrize("given", [{"amount": 5}, {"charge": "ch_a", "payment_intent": "pi_a"}])
def test_a_refund_names_exactly_one_target(stripe_api, given):
    with pytest.raises(stripe.InvalidRequestError, match="param"):
        stripe_api.refunds.create(given)


def test_refunds_are_listed_by_intent_and_by_time(processor, stripe_api, pay):
    first, second = pay(), pay()
    stripe_api.refunds.create({"payment_intent": first.id, "amount": 100})
    later = processor.turn_clock(seconds=DAY)
    refund = stripe_api.refunds.create({"payment_intent": second.id, "amount": 200})

    assert [one.id for one in stripe_api.refunds.list({"payment_intent": second.id}).data] == [refund.id]
    assert [one.id for one in stripe_api.refunds.list({"created": {"gte": later}}).data] == [refund.id]
    assert [one.amount for one in stripe_api.refunds.list({"created": {"lt": later}}).data] == [100]
