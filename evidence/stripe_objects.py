"""`script/evidence stripe-objects FOLDER`: read every Stripe object of a folder of JSON files.

Objects of many API versions, from other projects' fixtures: each is read as it is, as an answer
and as an event, and what the ledger makes of it is printed. Anything but a value or a
ValueError for what is no event is a failure.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from ledger.evidence import OutcomeSeen, RefundSeen
from ledger.processors import STRIPE, reader_for

KINDS = {"payment_intent", "charge", "refund", "dispute", "event"}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: script/evidence stripe-objects FOLDER\n")
        return 2
    read: Counter[str] = Counter()
    for path in sorted(Path(arguments[0]).rglob("*.json")):
        body = json.loads(path.read_bytes(), parse_float=Decimal)
        for thing in _objects(body):
            for said in _read(thing):
                read[said] += 1
    for said, number in sorted(read.items()):
        print(f"{number:>5}  {said}")
    print(f"stripe objects: {sum(read.values())} read, none raised")
    return 0 if read else 1


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a kind that the ledger reads, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get("object"), str) and value["object"] in KINDS:
            yield value
        for item in value.values():
            yield from _objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def _read(thing: dict[str, Any]) -> Iterator[str]:
    reader = reader_for(STRIPE)
    if thing["object"] == "event":
        try:
            event = reader.read_event(thing)
        except ValueError as error:
            yield f"event without what an event needs: {error}"
            return
        if not event.seen:
            yield "event about something else"
        for seen in event.seen:
            state = seen.outcome if isinstance(seen, OutcomeSeen | RefundSeen) else seen.status
            yield f"event: {type(seen).__name__} {state}"
        return
    answer = reader.read_answer(thing)
    yield f"{thing['object']}: {'read by events only' if answer is None else answer.outcome}"
