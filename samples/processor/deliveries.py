"""The queue of webhook deliveries: one row per event, endpoint and wish for trouble."""

import json
from fnmatch import fnmatchcase

from samples.processor.call import Call
from samples.processor.errors import Body
from samples.processor.faults import Fault, Taken
from samples.processor.storage import Store

# A sandbox account is tried three times over some hours (a live one for three days).
RETRY_AFTER_SECONDS = (3600, 2 * 3600)


def receivers(store: Store, *, event_type: str) -> list[str]:
    """The ids of the endpoints that want events of this type."""
    return [
        endpoint["id"]
        for endpoint in store.all("webhook_endpoint", status="enabled")
        if any(fnmatchcase(event_type, pattern) for pattern in endpoint["enabled_events"])
    ]


def queue(call: Call, event: Body, endpoint_ids: list[str], taken: Taken | None) -> None:
    state, due_at, copies, held_for = "pending", call.now, 1, "*"
    if taken is not None:
        match taken.kind:
            case Fault.WEBHOOK_DOUBLED:
                copies = 2
            case Fault.WEBHOOK_LATE:
                due_at += int(taken.options["seconds"])
            case Fault.WEBHOOK_OUT_OF_ORDER:
                state, held_for = "held", taken.options["behind"]
            case Fault.WEBHOOK_LOST:
                state = "lost"
    is_forged = taken is not None and taken.kind is Fault.WEBHOOK_FORGED
    for endpoint_id in endpoint_ids * copies:
        call.store.run(
            "INSERT INTO delivery (event_id, endpoint_id, due_at, state, held_for, is_forged)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            event["id"],
            endpoint_id,
            due_at,
            state,
            held_for,
            is_forged,
        )


def next_due(store: Store, *, now: int) -> Body | None:
    return store.row(
        "SELECT * FROM delivery WHERE state = 'pending' AND due_at <= ? ORDER BY due_at, seq LIMIT 1", now
    )


def record_attempt(store: Store, delivery: Body, *, now: int, status: int | str) -> None:
    """Keep what the receiver answered, plan the next try, let go of what was held for this one."""
    attempts = [*json.loads(delivery["attempts"]), {"at": now, "status": status}]
    state, due_at = "delivered", delivery["due_at"]
    if not (isinstance(status, int) and 200 <= status < 300):
        tries_left = RETRY_AFTER_SECONDS[len(attempts) - 1 :]
        state, due_at = ("pending", now + tries_left[0]) if tries_left else ("failed", due_at)
    with store.transaction():
        store.run(
            "UPDATE delivery SET state = ?, due_at = ?, attempts = ? WHERE seq = ?",
            state,
            due_at,
            json.dumps(attempts),
            delivery["seq"],
        )
        if state == "delivered":
            _release(store, overtaken_by=delivery)


def release_held(store: Store) -> int:
    """For a queue with nothing left that could overtake them."""
    return store.run("UPDATE delivery SET state = 'pending' WHERE state = 'held'")


def event_ids(store: Store, *, delivered: bool) -> list[str]:
    """Events whose deliveries all arrived, or those with one that has not."""
    waiting = store.rows("SELECT DISTINCT event_id FROM delivery WHERE state <> 'delivered'")
    late = {row["event_id"] for row in waiting}
    if not delivered:
        return sorted(late)
    return [
        row["id"] for row in store.rows("SELECT id FROM object WHERE kind = 'event'") if row["id"] not in late
    ]


def _release(store: Store, *, overtaken_by: Body) -> None:
    event = store.find("event", overtaken_by["event_id"])
    held = store.rows(
        "SELECT seq, held_for FROM delivery WHERE state = 'held' AND endpoint_id = ? AND seq < ?",
        overtaken_by["endpoint_id"],
        overtaken_by["seq"],
    )
    for row in held:
        if event is not None and fnmatchcase(event["type"], row["held_for"]):
            store.run("UPDATE delivery SET state = 'pending' WHERE seq = ?", row["seq"])
