"""Stripe's events: which object they carry, and what the ledger hangs them on."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ledger.evidence import AnySeen
from ledger.processors.protocol import ReadEvent
from ledger.processors.stripe import objects
from ledger.processors.stripe.objects import Body, id_of, text, whole
from ledger.vocabulary import EvidenceSource

_THIN = "v2.core.event"


def read_event(event: Body, *, source: EvidenceSource) -> ReadEvent:
    """Read an event by the object it carries, whatever its name says; ValueError where it is no event."""
    event_id, data = text(event, "id"), event.get("data")
    if text(event, "object") == _THIN:
        return _read_thin(event, event_id)
    carried = data.get("object") if isinstance(data, Mapping) else None
    occurred_at = objects.moment(event.get("created"))
    if not event_id or not isinstance(carried, Mapping) or occurred_at is None:
        raise ValueError("not an event: no id, no object or no time")
    request = event.get("request")
    key = text(request, "idempotency_key") if isinstance(request, Mapping) else ""
    seen = _seen_in(carried, source=source, occurred_at=occurred_at, key=key)
    return ReadEvent(
        event_id=event_id,
        type=text(event, "type"),
        occurred_at=occurred_at,
        object_ref=anchor_of(carried) if seen else "",
        seen=seen,
        refunded=_refunded(carried),
    )


def _read_thin(event: Body, event_id: str) -> ReadEvent:
    """A thin event names an object and carries none: it is kept, and says nothing of money.

    Refused, it would come again for days. Its time is written out, where other events count seconds.
    """
    try:
        occurred_at = datetime.fromisoformat(text(event, "created"))
    except ValueError:
        occurred_at = None
    if not event_id or occurred_at is None or occurred_at.tzinfo is None:
        raise ValueError("not an event: no id or no time")
    return ReadEvent(
        event_id=event_id,
        type=text(event, "type"),
        occurred_at=occurred_at,
        object_ref="",
        seen=[],
        refunded=None,
    )


def anchor_of(carried: Body) -> str:
    """Return what the object hangs on: a refund and a dispute on their charge."""
    if text(carried, "object") in ("refund", "dispute"):
        return id_of(carried.get("charge")) or id_of(carried.get("payment_intent"))
    return id_of(carried)


def _seen_in(carried: Body, *, source: EvidenceSource, **seen: Any) -> list[AnySeen]:
    kind = text(carried, "object") if id_of(carried) else ""
    key = seen.pop("key")
    if kind == "payment_intent":
        return [objects.intent_seen(carried, source=source, idempotency_key=key, **seen)]
    if kind == "charge":
        # A refund's request changes its charge too: its key is not the charge's.
        charge = objects.charge_seen(carried, source=source, **seen)
        return [charge, *_embedded_refunds(carried, source=source, **seen)]
    if kind == "refund":
        return [objects.refund_seen(carried, source=source, idempotency_key=key, **seen)]
    if kind == "dispute":
        return [objects.dispute_seen(carried, source=source, **seen)]
    return []


def _embedded_refunds(charge: Body, *, source: EvidenceSource, **seen: Any) -> list[AnySeen]:
    """Older API versions put a charge's refunds inside the charge."""
    refunds = charge.get("refunds")
    data = refunds.get("data") if isinstance(refunds, Mapping) else None
    if not isinstance(data, list):
        return []
    return [
        objects.refund_seen({"charge": charge.get("id"), **refund}, source=source, **seen)
        for refund in data
        if isinstance(refund, Mapping) and id_of(refund)
    ]


def _refunded(carried: Body) -> tuple[str, int] | None:
    """Return what of a captured charge was given back; what its capture released was never taken."""
    refunded, amount, captured = (
        whole(carried, name) for name in ("amount_refunded", "amount", "amount_captured")
    )
    if text(carried, "object") != "charge" or carried.get("captured") is False or refunded is None:
        return None
    released = amount - captured if amount is not None and captured is not None else 0
    return id_of(carried), max(refunded - released, 0)
