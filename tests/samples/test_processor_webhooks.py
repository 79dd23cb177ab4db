import json

import pytest
import stripe

from tests.samples.receiver import listening

HOUR = 3600


@pytest.fixture
def receiver(processor):
    with listening() as receiver:
        yield receiver
        # Nothing may be sent to a receiver that is gone.
        processor.reset()


def _ids(receiver):
    return [json.loads(body)["id"] for body, _ in receiver.got]


def _types(receiver):
    return [json.loads(body)["type"] for body, _ in receiver.got]


def test_an_event_arrives_signed_as_stripes_sdk_checks_it(processor, receiver, stripe_api, pay):
    processor.send_webhooks_to(receiver.url)
    intent = pay(key="k-1")

    processor.flush_webhooks()

    events = [
        stripe.Webhook.construct_event(body, sign, processor.webhook_secret) for body, sign in receiver.got
    ]
    assert [event.type for event in events] == [
        "payment_intent.created",
        "charge.succeeded",
        "payment_intent.succeeded",
    ]
    assert events[2].data.object.id == intent.id
    assert events[2].request.idempotency_key == "k-1"
    assert stripe_api.events.retrieve(events[2].id).pending_webhooks == 0


def test_an_endpoint_made_by_the_api_has_a_secret_of_its_own_and_its_event_types(
    processor, receiver, stripe_api, pay
):
    endpoint = stripe_api.webhook_endpoints.create({"url": receiver.url, "enabled_events": ["charge.*"]})
    pay()

    processor.flush_webhooks()

    assert _types(receiver) == ["charge.succeeded"]
    stripe.Webhook.construct_event(*receiver.got[0], endpoint.secret)
    assert "secret" not in stripe_api.webhook_endpoints.retrieve(endpoint.id)


def test_webhooks_come_without_being_asked_for(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    pay()

    assert receiver.arrived.wait(5)
    assert _types(receiver) == ["charge.succeeded"]


def test_a_refused_webhook_is_tried_three_times_over_hours(processor, receiver, stripe_api, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    receiver.status = 500
    pay()
    processor.flush_webhooks()
    (missed,) = stripe_api.events.list({"delivery_success": False}).data

    for hours in (1, 2, 24):
        processor.turn_clock(seconds=hours * HOUR)
        processor.flush_webhooks()

    assert _ids(receiver) == [missed.id] * 3
    (delivery,) = processor.books()["deliveries"]
    assert delivery["state"] == "failed"
    assert [attempt["status"] for attempt in json.loads(delivery["attempts"])] == [500, 500, 500]


def test_a_retry_that_is_taken_ends_the_tries(processor, receiver, stripe_api, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    receiver.status = 503
    pay()
    processor.flush_webhooks()
    receiver.status = 200

    for _ in range(2):
        processor.turn_clock(seconds=HOUR)
        processor.flush_webhooks()

    assert len(receiver.got) == 2
    assert stripe_api.events.list({"delivery_success": False}).data == []


def test_a_doubled_webhook_is_the_same_event_twice(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    processor.ask_for("webhook_doubled")
    pay()

    processor.flush_webhooks()

    first, second = _ids(receiver)
    assert first == second


def test_a_twin_is_a_second_event_for_one_change(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url)
    processor.ask_for("webhook_twin", event_type="charge.succeeded")
    pay()

    processor.flush_webhooks()

    twins = [json.loads(body) for body, _ in receiver.got if b'"type": "charge.succeeded"' in body]
    assert len({event["id"] for event in twins}) == 2
    assert twins[0]["data"] == twins[1]["data"]


def test_a_webhook_out_of_order_comes_after_a_later_one(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded", "payment_intent.succeeded"))
    processor.ask_for("webhook_out_of_order", event_type="charge.succeeded")
    pay()

    processor.flush_webhooks()

    assert _types(receiver) == ["payment_intent.succeeded", "charge.succeeded"]


def test_a_refund_can_be_heard_of_before_its_charge(processor, receiver, stripe_api, pay):
    processor.send_webhooks_to(receiver.url)
    processor.ask_for("webhook_out_of_order", event_type="charge.succeeded", behind="refund.created")
    stripe_api.refunds.create({"payment_intent": pay().id})

    processor.flush_webhooks()

    assert _types(receiver) == [
        "payment_intent.created",
        "payment_intent.succeeded",
        "refund.created",
        "charge.succeeded",
        "charge.refunded",
    ]


def test_a_held_webhook_with_nothing_to_overtake_it_is_released_by_the_flush(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    processor.ask_for("webhook_out_of_order")
    pay()

    processor.flush_webhooks(release_held=False)
    assert receiver.got == []

    processor.flush_webhooks()
    assert _types(receiver) == ["charge.succeeded"]


def test_a_late_webhook_comes_when_its_time_has(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    processor.ask_for("webhook_late", seconds=2 * HOUR)
    pay()
    processor.flush_webhooks()
    assert receiver.got == []

    processor.turn_clock(seconds=2 * HOUR)
    processor.flush_webhooks()

    assert _types(receiver) == ["charge.succeeded"]


def test_a_lost_webhook_never_comes_but_its_event_is_listed(processor, receiver, stripe_api, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    processor.ask_for("webhook_lost")
    pay()

    processor.turn_clock(seconds=24 * HOUR)
    processor.flush_webhooks()

    assert receiver.got == []
    (missed,) = stripe_api.events.list({"delivery_success": False}).data
    assert missed.type == "charge.succeeded"


def test_a_forged_webhook_fails_the_check(processor, receiver, pay):
    processor.send_webhooks_to(receiver.url, enabled_events=("charge.succeeded",))
    processor.ask_for("webhook_forged")
    pay()

    processor.flush_webhooks()

    ((body, sign),) = receiver.got
    with pytest.raises(stripe.SignatureVerificationError):
        stripe.Webhook.construct_event(body, sign, processor.webhook_secret)


@pytest.mark.parametrize("url", ["ftp://example.com", "http://", "http://example.com:99999/", "nowhere"])
def test_an_endpoint_without_a_proper_address_is_refused(stripe_api, url):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe_api.webhook_endpoints.create({"url": url, "enabled_events": ["*"]})

    assert (refused.value.code, refused.value.param) == ("url_invalid", "url")
    assert stripe_api.webhook_endpoints.list().data == []


def test_a_receiver_that_is_not_there_is_a_failed_try(processor, pay):
    processor.send_webhooks_to("http://127.0.0.1:9/", enabled_events=("charge.succeeded",))
    pay()

    processor.flush_webhooks()

    (delivery,) = processor.books()["deliveries"]
    (attempt,) = json.loads(delivery["attempts"])
    assert (delivery["state"], attempt["status"].split(":")[0]) == ("pending", "ConnectionRefusedError")


def test_a_deleted_endpoint_gets_nothing_more(processor, receiver, stripe_api, pay):
    endpoint = processor.send_webhooks_to(receiver.url)
    stripe_api.webhook_endpoints.delete(endpoint["id"])
    pay()

    processor.flush_webhooks()

    assert receiver.got == []
    assert stripe_api.webhook_endpoints.list().data == []
