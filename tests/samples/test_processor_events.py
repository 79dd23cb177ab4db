import pytest
import stripe

DAY = 24 * 3600


def test_an_event_names_the_request_and_the_key_behind_it(stripe_api, pay):
    intent = pay(key="effect-1")

    (event,) = stripe_api.events.list({"type": "charge.succeeded"}).data

    assert event.request.idempotency_key == "effect-1"
    assert event.request.id == intent.last_response.request_id
    assert event.api_version == "2026-10-28.endive"


def test_a_replay_makes_no_event(stripe_api, pay):
    pay(key="k-1")
    pay(key="k-1")

    assert len(stripe_api.events.list({"type": "charge.succeeded"}).data) == 1


def test_an_event_stays_as_it_was_when_the_object_changes(stripe_api, pay):
    intent = pay()
    stripe_api.refunds.create({"payment_intent": intent.id, "amount": 500})

    (event,) = stripe_api.events.list({"type": "charge.succeeded"}).data

    assert event.data.object.amount_refunded == 0


def test_events_are_listed_by_types_and_by_time(processor, stripe_api, pay):
    pay()
    later = processor.turn_clock(seconds=DAY)
    pay()

    types = ["charge.succeeded", "payment_intent.succeeded"]
    listed = stripe_api.events.list({"types": types, "created": {"gte": later}}).data

    assert [event.type for event in listed] == types[::-1]


def test_events_go_back_thirty_days(processor, stripe_api, pay):
    pay()
    (event,) = stripe_api.events.list({"type": "charge.succeeded"}).data
    processor.turn_clock(seconds=30 * DAY - 60)
    assert stripe_api.events.retrieve(event.id).id == event.id

    processor.turn_clock(seconds=60)

    assert stripe_api.events.list({"created": {"gte": 0}}).data == []
    with pytest.raises(stripe.InvalidRequestError):
        stripe_api.events.retrieve(event.id)
    # The charge itself stays.
    assert len(stripe_api.charges.list().data) == 1
