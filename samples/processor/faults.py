"""Faults that were asked for, each spent on the requests or events it names."""

import json
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from samples.processor.errors import ApiError, Body
from samples.processor.storage import Store


class Fault(StrEnum):
    """What may go wrong. docs/sandbox.md lists them for people."""

    CUT_BEFORE = "cut_before"
    ANSWER_LOST = "answer_lost"
    ANSWER_CUT = "answer_cut"
    ERROR_500 = "error_500"
    CONFLICT = "conflict"
    SLOW = "slow"
    WEBHOOK_DOUBLED = "webhook_doubled"
    WEBHOOK_TWIN = "webhook_twin"
    WEBHOOK_LATE = "webhook_late"
    WEBHOOK_OUT_OF_ORDER = "webhook_out_of_order"
    WEBHOOK_LOST = "webhook_lost"
    WEBHOOK_FORGED = "webhook_forged"


OPTIONS: dict[Fault, dict[str, object]] = {
    # Whether the books change before the 500 is saved.
    Fault.ERROR_500: {"executed": False},
    # `before`: while the key counts as running; `after`: committed, the answer waits.
    Fault.SLOW: {"seconds": 1, "when": "before"},
    Fault.WEBHOOK_LATE: {"seconds": 3600},
    # The type of the later event that overtakes it.
    Fault.WEBHOOK_OUT_OF_ORDER: {"behind": "*"},
}


@dataclass(frozen=True)
class Taken:
    kind: Fault
    options: Body


def ask(store: Store, wish: Body) -> None:
    """Store one wish: a kind, what it matches, how many to let pass first, how many to hit."""
    wish = dict(wish)
    try:
        kind = Fault(wish.pop("kind", ""))
    except ValueError as error:
        raise ApiError(f"Unknown fault. There are: {', '.join(Fault)}", param="kind") from error
    matching = {
        "method": str(wish.pop("method", "POST")),
        "path": str(wish.pop("path", "*")),
        "event_type": str(wish.pop("event_type", "*")),
    }
    pass_first, times = int(wish.pop("pass_first", 0)), int(wish.pop("times", 1))
    options = {**OPTIONS.get(kind, {})}
    for name, value in wish.items():
        if name not in options:
            raise ApiError(f"The fault {kind} has no option {name}.", param=name)
        options[name] = value
    store.run(
        "INSERT INTO fault (kind, method, path, event_type, pass_first, times, options)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        kind,
        *matching.values(),
        pass_first,
        times,
        json.dumps(options),
    )


def take_for_request(store: Store, *, method: str, path: str) -> Taken | None:
    """The first standing fault that this request meets; it is used up by one."""
    return _take(store, is_webhook=False, method=method, path=path)


def take_for_event(store: Store, *, event_type: str) -> Taken | None:
    return _take(store, is_webhook=True, event_type=event_type)


def _take(store: Store, *, is_webhook: bool, **named: str) -> Taken | None:
    with store.transaction():
        for row in store.rows("SELECT * FROM fault WHERE times > 0 ORDER BY seq"):
            kind = Fault(row["kind"])
            if kind.startswith("webhook_") != is_webhook:
                continue
            if not all(fnmatchcase(value, row[name]) for name, value in named.items()):
                continue
            if row["pass_first"] > 0:
                store.run("UPDATE fault SET pass_first = pass_first - 1 WHERE seq = ?", row["seq"])
                continue
            store.run("UPDATE fault SET times = times - 1 WHERE seq = ?", row["seq"])
            return Taken(kind, json.loads(row["options"]))
    return None
