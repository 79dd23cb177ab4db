"""Webhook endpoints: where events are sent, each with the secret it is signed with."""

from urllib.parse import urlsplit

from samples.processor import API_VERSION
from samples.processor.call import Call
from samples.processor.errors import ApiError, Body
from samples.processor.ids import mint
from samples.processor.lists import list_objects
from samples.processor.parameters import merge_metadata


def create_endpoint(call: Call) -> Body:
    """The only answer that shows the secret."""
    return add_endpoint(
        call,
        url=call.values["url"],
        enabled_events=call.values["enabled_events"],
        secret=mint("whsec_", 32),
        description=call.values.get("description"),
        metadata=merge_metadata({}, call.values.get("metadata")),
    )


def add_endpoint(
    call: Call,
    *,
    url: str,
    enabled_events: list[str],
    secret: str,
    description: str | None = None,
    metadata: dict[str, str] | None = None,
) -> Body:
    check_url({"url": url})
    endpoint: Body = {
        "id": mint("we_1"),
        "object": "webhook_endpoint",
        "api_version": API_VERSION,
        "application": None,
        "created": call.now,
        "description": description,
        "enabled_events": enabled_events,
        "livemode": False,
        "metadata": metadata or {},
        "status": "enabled",
        "url": url,
    }
    call.store.insert(endpoint, now=call.now, hidden={"secret": secret})
    return {**endpoint, "secret": secret}


def check_url(values: Body) -> None:
    """Part of reading the parameters, here and where an endpoint is changed."""
    if "url" not in values:
        return
    try:
        parts = urlsplit(values["url"])
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise ApiError("Not a valid URL", code="url_invalid", param="url")


def update_endpoint(call: Call) -> Body:
    endpoint = call.store.get("webhook_endpoint", call.object_id)
    if "disabled" in call.values:
        endpoint["status"] = "disabled" if call.values["disabled"] else "enabled"
    for name in ("description", "enabled_events", "url"):
        endpoint[name] = call.values.get(name, endpoint[name])
    return call.store.save(endpoint, now=call.now)


def delete_endpoint(call: Call) -> Body:
    call.store.get("webhook_endpoint", call.object_id)
    call.store.delete(call.object_id)
    return {"id": call.object_id, "object": "webhook_endpoint", "deleted": True}


def retrieve_endpoint(call: Call) -> Body:
    return call.store.get("webhook_endpoint", call.object_id)


def list_endpoints(call: Call) -> Body:
    return list_objects(call, "webhook_endpoint", url="/v1/webhook_endpoints")
