"""Events: what changed, frozen as it was, with the request and the idempotency key behind it."""

import copy

from samples.processor import API_VERSION, deliveries
from samples.processor.call import Call
from samples.processor.errors import ApiError, Body, no_such
from samples.processor.faults import Fault, take_for_event
from samples.processor.ids import mint
from samples.processor.lists import list_objects

WINDOW_SECONDS = 30 * 24 * 3600


def emit(call: Call, event_type: str, changed: Body, *, previous: Body | None = None) -> None:
    """Record the event and queue its deliveries; both are part of the caller's transaction.

    A fault is spent only on an event that somebody receives.
    """
    event = _record(call, event_type, changed, previous)
    receivers = deliveries.receivers(call.store, event_type=event_type)
    if not receivers:
        return
    taken = take_for_event(call.store, event_type=event_type)
    deliveries.queue(call, event, receivers, taken)
    if taken is not None and taken.kind is Fault.WEBHOOK_TWIN:
        deliveries.queue(call, _record(call, event_type, changed, previous), receivers, None)


def _record(call: Call, event_type: str, changed: Body, previous: Body | None) -> Body:
    data: Body = {"object": copy.deepcopy(changed)}
    if previous is not None:
        data["previous_attributes"] = previous
    event = {
        "id": mint("evt_3"),
        "object": "event",
        "api_version": API_VERSION,
        "created": call.now,
        "data": data,
        "livemode": False,
        "pending_webhooks": 0,
        "request": {"id": call.request_id, "idempotency_key": call.key},
        "type": event_type,
    }
    return call.store.insert(event, now=call.now)


def retrieve_event(call: Call) -> Body:
    event = call.store.get("event", call.object_id)
    if event["created"] <= call.now - WINDOW_SECONDS:
        raise no_such("event", call.object_id)
    return event


def list_events(call: Call) -> Body:
    """Thirty days back, no further."""
    one, several = call.values.get("type"), call.values.get("types")
    if one and several:
        raise ApiError("You may only specify one of these parameters: type, types.", param="types")
    among = {"type": several or [one]} if one or several else {}
    delivered = call.values.get("delivery_success")
    if delivered is not None:
        among["id"] = deliveries.event_ids(call.store, delivered=delivered)
    bounds = call.values.get("created", {})
    oldest = call.now - WINDOW_SECONDS
    created = {} if bounds.get("gt", bounds.get("gte", 0)) > oldest else {"gt": oldest}
    return list_objects(call, "event", url="/v1/events", among=among, created=created)
