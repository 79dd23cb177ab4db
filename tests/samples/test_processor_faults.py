import time

import pytest
import stripe

from samples.processor.process import LeverRefusedError


def test_a_lost_answer_was_committed_and_the_same_key_finds_it(processor, stripe_api, pay):
    processor.ask_for("answer_lost")

    with pytest.raises(stripe.APIConnectionError):
        pay(key="k-1")

    (charge,) = stripe_api.charges.list().data
    assert pay(key="k-1").latest_charge == charge.id


def test_stripes_own_retry_heals_a_lost_answer(processor, stripe_api):
    processor.ask_for("answer_lost")
    params = {"amount": 2000, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}

    intent = processor.client(max_network_retries=1).v1.payment_intents.create(params)

    assert intent.last_response.headers["Idempotent-Replayed"] == "true"
    assert len(stripe_api.charges.list().data) == 1


def test_an_answer_cut_in_the_middle_was_committed(processor, stripe_api, pay):
    processor.ask_for("answer_cut")

    with pytest.raises((stripe.APIConnectionError, stripe.APIError)):
        pay(key="k-1")

    assert len(stripe_api.charges.list().data) == 1


def test_a_connection_cut_before_did_nothing_and_saved_no_key(processor, stripe_api, pay):
    processor.ask_for("cut_before")

    with pytest.raises(stripe.APIConnectionError):
        pay(key="k-1")

    assert stripe_api.charges.list().data == []
    assert processor.books()["idempotency_keys"] == []
    assert "Idempotent-Replayed" not in pay(key="k-1").last_response.headers


def test_a_conflict_did_nothing_and_saved_no_key(processor, stripe_api, pay):
    processor.ask_for("conflict")

    with pytest.raises(stripe.APIError) as conflict:
        pay(key="k-1")

    assert (conflict.value.http_status, conflict.value.error.code) == (409, "idempotency_key_in_use")
    assert stripe_api.charges.list().data == []
    assert pay(key="k-1").status == "succeeded"


def test_a_slow_answer_outlives_the_client_but_was_committed(processor, stripe_api):
    processor.ask_for("slow", seconds=1, when="after")
    impatient = stripe.StripeClient(
        processor.api_key,
        base_addresses={"api": processor.base_url},
        http_client=stripe.RequestsClient(timeout=0.3),
        max_network_retries=0,
    )

    with pytest.raises(stripe.APIConnectionError):
        impatient.v1.payment_intents.create(
            {"amount": 2000, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}
        )

    while not processor.books()["requests"]:  # written when the answer goes out
        time.sleep(0.02)
    assert len(stripe_api.charges.list().data) == 1


def test_a_fault_waits_for_its_path_and_its_turn(processor, stripe_api, pay):
    processor.ask_for("answer_lost", path="/v1/refunds", pass_first=1)
    intent = pay()
    stripe_api.refunds.create({"payment_intent": intent.id, "amount": 100})

    with pytest.raises(stripe.APIConnectionError):
        stripe_api.refunds.create({"payment_intent": intent.id, "amount": 200})

    stripe_api.refunds.create({"payment_intent": intent.id, "amount": 300})
    assert [refund.amount for refund in stripe_api.refunds.list().data] == [300, 200, 100]


def test_a_fault_may_hit_a_list(processor, stripe_api):
    processor.ask_for("cut_before", method="GET", path="/v1/refunds")

    with pytest.raises(stripe.APIConnectionError):
        stripe_api.refunds.list()

    assert stripe_api.refunds.list().data == []


def test_faults_can_be_seen_and_dropped(processor, pay):
    processor.ask_for("answer_lost", times=3)
    (fault,) = processor.pull("faults", method="GET")["faults"]
    assert (fault["kind"], fault["times"]) == ("answer_lost", 3)

    processor.pull("faults", method="DELETE")

    assert pay().status == "succeeded"


@pytest.mark.parametrize("wish", [{"kind": "earthquake"}, {"kind": "slow", "colour": "red"}])
def test_an_unknown_wish_is_refused(processor, wish):
    with pytest.raises(LeverRefusedError):
        processor.pull("faults", wish)

    assert processor.pull("faults", method="GET")["faults"] == []


def test_the_books_name_every_request_and_the_fault_it_met(processor, pay):
    processor.ask_for("answer_lost")
    with pytest.raises(stripe.APIConnectionError):
        pay(key="k-1")
    pay(key="k-1")

    requests = processor.books()["requests"]

    assert [(row["key"], row["outcome"], row["fault"]) for row in requests] == [
        ("k-1", "executed", "answer_lost"),
        ("k-1", "replayed", None),
    ]
