"""What became of an operation that left and was never answered: looked for, never sent again.

The order: the object itself by its id; else a list, which is a consistent read, matched by the
metadata that went with the request; then events by the key. Search is not used: it lags, and an
empty answer from it proves nothing. Absence is certain only where the list and the events were
read to their ends, over the whole time in which the key could act, after that time is over.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import stripe

from ledger.evidence import EFFECT_METADATA, KEY_METADATA, Found, OutcomeSeen, RefundSeen
from ledger.processors.protocol import Sought
from ledger.processors.stripe import objects
from ledger.processors.stripe.calls import every, plain, read
from ledger.processors.stripe.events import read_event
from ledger.vocabulary import EffectState, EvidenceSource, Operation

# A list without a customer goes through everything of the window: beyond this many it is given up.
LIST_LIMIT = 5000
_EVENT_TYPES = {
    Operation.CHARGE: [
        "payment_intent.succeeded",
        "payment_intent.payment_failed",
        "payment_intent.canceled",
        # Of a charge that was made without an intent, which the list of intents does not show.
        "charge.succeeded",
        "charge.failed",
    ],
    Operation.REFUND: ["refund.created", "refund.failed", "refund.updated"],
}


class _TooManyError(Exception):
    """The list is longer than what may be read for one effect."""


def find(client: stripe.StripeClient, sought: Sought) -> Found:
    """Return evidence, certain absence, or nothing where neither can be said."""
    if sought.operation not in _EVENT_TYPES:
        return Found()
    by_id = _by_id(client, sought)
    if by_id is not None:
        return Found(seen=[by_id])
    is_whole = True
    try:
        listed = list(_listed(client, sought))
    except (_TooManyError, stripe.InvalidRequestError):
        listed, is_whole = [], False
    if listed:
        return Found(seen=listed)
    try:
        told = _by_events(client, sought)
    except _TooManyError:
        return Found()
    return Found(seen=told, is_absent=is_whole and not told and sought.now >= sought.until)


def _by_id(client: stripe.StripeClient, sought: Sought) -> OutcomeSeen | None:
    """Retrieve the object itself, where its id is known."""
    known = dict(reversed(list(sought.references)))
    intent, charge, refund = (known.get(kind) for kind in ("intent", "charge", "refund"))
    try:
        if sought.operation == Operation.REFUND:
            return _refund_by_id(client, refund) if refund else None
        if intent:
            found = read(lambda: client.v1.payment_intents.retrieve(intent))
            return objects.intent_seen(plain(found), source=EvidenceSource.RETRIEVE)
        if charge:
            found = read(lambda: client.v1.charges.retrieve(charge))
            return objects.charge_seen(plain(found), source=EvidenceSource.RETRIEVE)
    except stripe.InvalidRequestError:
        # An id that the processor does not know was never its answer: look on.
        return None
    return None


def _refund_by_id(client: stripe.StripeClient, refund: str) -> OutcomeSeen:
    found = read(lambda: client.v1.refunds.retrieve(refund))
    return objects.refund_outcome(objects.refund_seen(plain(found), source=EvidenceSource.RETRIEVE))


def _listed(client: stripe.StripeClient, sought: Sought) -> Iterator[OutcomeSeen]:
    """Everything of ours that a consistent list shows; oldest first, all of it: there may be two."""
    if sought.operation == Operation.REFUND:
        bodies = [body for body in _refunds(client, sought) if _is_ours(body, sought)]
        for body in reversed(bodies):
            yield objects.refund_outcome(objects.refund_seen(body, source=EvidenceSource.LIST))
        return
    bodies = [body for body in _intents(client, sought) if _is_ours(body, sought)]
    for body in sorted(bodies, key=_final_then_oldest):
        yield objects.intent_seen(body, source=EvidenceSource.LIST)


def _final_then_oldest(intent: Mapping[str, Any]) -> tuple[bool, int]:
    return intent.get("status") != "succeeded", objects.whole(intent, "created") or 0


def _intents(client: stripe.StripeClient, sought: Sought) -> Iterator[Mapping[str, Any]]:
    params: dict[str, Any] = {"created": _window(sought.since, sought.until)}
    if sought.customer:
        params["customer"] = sought.customer
    return _limited(every(client.v1.payment_intents.list, params))


def _refunds(client: stripe.StripeClient, sought: Sought) -> Iterator[Mapping[str, Any]]:
    target = next((ref for kind, ref in sought.references if kind in ("target", "intent")), "")
    if not target:
        return _limited(every(client.v1.refunds.list, {"created": _window(sought.since, sought.until)}))
    name = "payment_intent" if target.startswith("pi_") else "charge"
    return _limited(every(client.v1.refunds.list, {name: target}))


def _limited(listed: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for number, thing in enumerate(listed):
        if number >= LIST_LIMIT:
            raise _TooManyError
        yield thing


def _window(since: datetime, until: datetime) -> dict[str, int]:
    return {"gte": int(since.timestamp()), "lte": int(until.timestamp())}


def _is_ours(body: Mapping[str, Any], sought: Sought) -> bool:
    metadata = objects.metadata_of(body)
    if objects.uuid_in(metadata, EFFECT_METADATA) == sought.effect_id:
        return True
    return objects.text(metadata, KEY_METADATA) == sought.idempotency_key


def _by_events(client: stripe.StripeClient, sought: Sought) -> list[OutcomeSeen]:
    """Events name the key of the request behind them: what was sent without metadata is found by it."""
    params: dict[str, Any] = {
        "types": _EVENT_TYPES[sought.operation],
        "created": _window(sought.since, sought.until),
    }
    found: list[OutcomeSeen] = []
    for number, event in enumerate(every(client.v1.events.list, params)):
        if number >= LIST_LIMIT:
            raise _TooManyError
        if (event.get("request") or {}).get("idempotency_key") != sought.idempotency_key:
            continue
        for seen in read_event(event, source=EvidenceSource.EVENTS).seen:
            outcome = objects.refund_outcome(seen) if isinstance(seen, RefundSeen) else seen
            if isinstance(outcome, OutcomeSeen) and outcome.outcome != EffectState.PENDING:
                found.append(outcome)
    return list(reversed(found))
