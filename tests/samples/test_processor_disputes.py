import pytest
import stripe

from samples.processor.process import LeverRefusedError


def _dispute_types(stripe_api):
    events = stripe_api.events.list({"limit": 100}).data[::-1]
    return [event.type for event in events if ".dispute." in event.type]


def test_a_dispute_takes_the_money_and_a_fee_at_once(processor, stripe_api, pay):
    intent = pay()

    opened = processor.open_dispute(intent.latest_charge, reason="product_not_received")

    dispute = stripe_api.disputes.retrieve(opened["id"])
    assert (dispute.status, dispute.amount, dispute.reason) == (
        "needs_response",
        2000,
        "product_not_received",
    )
    (row,) = dispute.balance_transactions
    assert (row.amount, row.fee, row.net) == (-2000, 1500, -3500)
    assert (row.type, row.reporting_category, row.source) == ("adjustment", "dispute", dispute.id)
    assert stripe_api.charges.retrieve(intent.latest_charge).disputed is True
    assert _dispute_types(stripe_api) == ["charge.dispute.created", "charge.dispute.funds_withdrawn"]
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.refunds.create({"payment_intent": intent.id})
    assert refused.value.code == "charge_disputed"


def test_a_won_dispute_brings_the_money_and_the_fee_back(processor, stripe_api, pay):
    opened = processor.open_dispute(pay().latest_charge)

    processor.close_dispute(opened["id"], status="won")

    dispute = stripe_api.disputes.retrieve(opened["id"])
    assert dispute.status == "won"
    assert [(row.net, row.reporting_category) for row in dispute.balance_transactions] == [
        (-3500, "dispute"),
        (3500, "dispute_reversal"),
    ]
    assert _dispute_types(stripe_api)[-2:] == ["charge.dispute.closed", "charge.dispute.funds_reinstated"]


def test_a_lost_dispute_keeps_one_row_and_stays_closed(processor, stripe_api, pay):
    opened = processor.open_dispute(pay().latest_charge, amount=1200)

    processor.close_dispute(opened["id"], status="lost")

    dispute = stripe_api.disputes.retrieve(opened["id"])
    assert (dispute.status, dispute.amount, len(dispute.balance_transactions)) == ("lost", 1200, 1)
    with pytest.raises(LeverRefusedError, match="cannot become won"):
        processor.close_dispute(opened["id"], status="won")


def test_an_inquiry_takes_nothing_and_leaves_the_charge_refundable(processor, stripe_api, pay):
    intent = pay()
    opened = processor.open_dispute(intent.latest_charge, inquiry=True)
    assert (opened["status"], opened["balance_transactions"]) == ("warning_needs_response", [])

    stripe_api.refunds.create({"payment_intent": intent.id})
    processor.close_dispute(opened["id"], status="warning_closed")

    assert stripe_api.disputes.retrieve(opened["id"]).status == "warning_closed"


def test_evidence_puts_a_dispute_under_review_and_closing_gives_in(processor, stripe_api, pay):
    opened = processor.open_dispute(pay().latest_charge)

    reviewed = stripe_api.disputes.update(opened["id"], {"evidence": {"customer_name": "Rosa"}})
    assert (reviewed.status, reviewed.evidence_details.submission_count) == ("under_review", 1)

    assert stripe_api.disputes.close(opened["id"]).status == "lost"


def test_the_disputing_card_is_disputed_by_itself(stripe_api, pay):
    intent = pay(payment_method="pm_card_createDispute")

    (dispute,) = stripe_api.disputes.list({"payment_intent": intent.id}).data

    assert (dispute.charge, dispute.reason) == (intent.latest_charge, "fraudulent")
    (event,) = stripe_api.events.list({"type": "charge.dispute.created"}).data
    assert event.request.id is None


def test_disputes_are_listed_by_charge(processor, stripe_api, pay):
    first, second = pay(), pay()
    processor.open_dispute(first.latest_charge)
    wanted = processor.open_dispute(second.latest_charge)

    listed = stripe_api.disputes.list({"charge": second.latest_charge}).data

    assert [dispute.id for dispute in listed] == [wanted["id"]]
