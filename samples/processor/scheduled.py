"""What happens by itself later, by the sandbox's clock: `due` runs it, in the order it falls due."""

from collections.abc import Callable
from dataclasses import replace

from samples.processor.call import Call
from samples.processor.storage import Store

Action = Callable[[Call, str], None]


def later(call: Call, action: str, object_id: str, *, seconds: int) -> None:
    call.store.run(
        "INSERT INTO scheduled (due_at, action, object_id) VALUES (?, ?, ?)",
        call.now + seconds,
        action,
        object_id,
    )


def run_due(store: Store, actions: dict[str, Action], *, now: int) -> None:
    """Each action sees the moment it was due at, so that a long turn of the clock keeps its dates."""
    call = Call(store=store, now=now)
    while True:
        with store.transaction():
            row = store.row("SELECT * FROM scheduled WHERE due_at <= ? ORDER BY due_at, seq LIMIT 1", now)
            if row is None:
                return
            store.run("DELETE FROM scheduled WHERE seq = ?", row["seq"])
            actions[row["action"]](replace(call, now=row["due_at"]), row["object_id"])
