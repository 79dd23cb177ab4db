import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import stripe

DAY = 24 * 3600


def test_a_repeated_request_gets_the_first_answer_and_charges_once(stripe_api, pay):
    first = pay(key="k-1")
    again = pay(key="k-1")

    assert again.id == first.id
    assert again.last_response.headers["Idempotent-Replayed"] == "true"
    assert again.last_response.headers["Original-Request"] == first.last_response.request_id
    assert "Idempotent-Replayed" not in first.last_response.headers
    assert len(stripe_api.charges.list().data) == 1


def test_a_replay_is_the_old_answer_even_if_the_object_has_changed(stripe_api, pay):
    intent = pay(key="k-1", capture_method="manual")
    stripe_api.payment_intents.cancel(intent.id)

    assert pay(key="k-1", capture_method="manual").status == "requires_capture"


def test_other_parameters_under_a_known_key_are_refused(stripe_api, pay):
    pay(key="k-1", amount=500)

    with pytest.raises(stripe.IdempotencyError, match="same parameters") as refused:
        pay(key="k-1", amount=700)

    assert refused.value.http_status == 400
    assert refused.value.error.type == "idempotency_error"
    assert [charge.amount for charge in stripe_api.charges.list().data] == [500]


def test_another_endpoint_under_a_known_key_is_refused(stripe_api, pay):
    intent = pay(key="k-1")

    with pytest.raises(stripe.IdempotencyError, match="same endpoint"):
        stripe_api.refunds.create({"payment_intent": intent.id}, {"idempotency_key": "k-1"})

    assert stripe_api.refunds.list().data == []


def test_a_refused_parameter_does_not_use_up_the_key(stripe_api, pay):
    with pytest.raises(stripe.InvalidRequestError):
        pay(key="k-1", amount="ten")

    assert pay(key="k-1").status == "succeeded"


def test_a_refusal_by_the_endpoint_is_saved_and_given_again(stripe_api, pay):
    intent = pay()
    options = {"idempotency_key": "k-1"}
    too_much = {"payment_intent": intent.id, "amount": 2001}

    for replayed in (None, "true"):
        with pytest.raises(stripe.InvalidRequestError, match="greater than unrefunded") as refused:
            stripe_api.refunds.create(too_much, options)
        assert refused.value.headers.get("Idempotent-Replayed") == replayed


def test_a_declined_card_is_saved_with_its_one_failed_charge(stripe_api, pay):
    for _ in range(2):
        with pytest.raises(stripe.CardError):
            pay(key="k-1", payment_method="pm_card_chargeDeclined")

    assert [charge.status for charge in stripe_api.charges.list().data] == ["failed"]


@pytest.mark.parametrize("executed", [True, False])
def test_a_saved_500_is_given_again_whether_or_not_it_charged(processor, stripe_api, pay, executed):
    processor.ask_for("error_500", executed=executed)

    for replayed in (None, "true"):
        with pytest.raises(stripe.APIError) as broken:
            pay(key="k-1")
        assert broken.value.http_status == 500
        assert broken.value.headers.get("Idempotent-Replayed") == replayed

    assert len(stripe_api.charges.list().data) == int(executed)


def test_a_key_that_is_still_running_is_a_conflict_and_stays_usable(processor, stripe_api, pay):
    processor.ask_for("slow", seconds=2, when="before")

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(pay, key="k-1")
        while not processor.books()["idempotency_keys"]:
            time.sleep(0.02)
        with pytest.raises(stripe.APIError) as conflict:
            pay(key="k-1")

    assert (conflict.value.http_status, conflict.value.error.code) == (409, "idempotency_key_in_use")
    assert pay(key="k-1").id == first.result().id
    assert len(stripe_api.charges.list().data) == 1


def test_thirty_two_senders_of_one_key_make_one_charge(processor, stripe_api):
    client = processor.client(max_network_retries=8)
    params = {"amount": 2000, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}

    def send(_):
        return client.v1.payment_intents.create(params, {"idempotency_key": "k-1"}).id

    with ThreadPoolExecutor(32) as pool:
        intents = set(pool.map(send, range(32)))

    assert len(intents) == 1
    assert len(stripe_api.charges.list().data) == 1


def test_a_key_is_forgotten_after_a_day_and_then_charges_again(processor, stripe_api, pay):
    first = pay(key="k-1")
    processor.turn_clock(seconds=DAY - 60)
    assert pay(key="k-1").id == first.id

    processor.turn_clock(seconds=60)

    second = pay(key="k-1")
    assert second.id != first.id
    assert len(stripe_api.charges.list().data) == 2


def test_keys_may_have_255_characters(stripe_api, pay):
    assert pay(key="k" * 255).status == "succeeded"
    with pytest.raises(stripe.InvalidRequestError, match="255"):
        pay(key="k" * 256)
