"""What an answer shows beyond what is stored: fresh states, and references that were to be expanded."""

from typing import Any

from samples.processor.call import Call
from samples.processor.errors import ApiError, Body

MAX_EXPAND_DEPTH = 4
EXPANDABLE = frozenset(
    (
        "balance_transaction",
        "charge",
        "customer",
        "failure_balance_transaction",
        "latest_charge",
        "payment_intent",
        "payment_method",
        "source",
    )
)


def present(call: Call, body: Body) -> Body:
    """The answer to `call`, with its `expand` paths followed."""
    shown = _fresh(call, body)
    for path in call.values.get("expand", []):
        steps = path.split(".")
        if len(steps) > MAX_EXPAND_DEPTH:
            raise ApiError(f"You cannot expand more than {MAX_EXPAND_DEPTH} levels.", param="expand")
        _expand(call, shown, steps, path)
    return shown


def _fresh(call: Call, body: Body) -> Body:
    kind = body.get("object")
    if kind in ("list", "search_result"):
        return {**body, "data": [_fresh(call, item) for item in body["data"]]}
    if kind == "balance_transaction":
        return {**body, "status": "available" if body["available_on"] <= call.now else "pending"}
    if kind == "event":
        waiting = call.store.row(
            "SELECT count(*) AS number FROM delivery WHERE event_id = ? AND state <> 'delivered'", body["id"]
        )
        return {**body, "pending_webhooks": waiting["number"] if waiting else 0}
    return dict(body)


def _expand(call: Call, body: Body, steps: list[str], path: str) -> None:
    name, rest = steps[0], steps[1:]
    if name == "data" and isinstance(body.get("data"), list):
        for item in body["data"]:
            if rest:
                _expand(call, item, rest, path)
        return
    if name == "refunds" and body.get("object") == "charge":
        body["refunds"] = _refunds_of(call, body)
        return
    if name not in EXPANDABLE or name not in body:
        raise ApiError(
            f"This property cannot be expanded ({path}). You may want to try expanding another property.",
            param="expand",
        )
    value: Any = body[name]
    if isinstance(value, str):
        found = call.store.any_kind(value)
        body[name] = value if found is None else _fresh(call, found)
    if rest and isinstance(body[name], dict):
        _expand(call, body[name], rest, path)


def _refunds_of(call: Call, charge: Body) -> Body:
    data = call.store.all("refund", charge=charge["id"])[::-1]
    url = f"/v1/charges/{charge['id']}/refunds"
    return {"object": "list", "data": data[:10], "has_more": len(data) > 10, "url": url}
