"""The payment processor's objects behind the stories, as its API would show them."""

from datetime import datetime
from typing import Any

from ledger.evidence import EFFECT_METADATA, KEY_METADATA
from ledger.models import ToolEffect

Body = dict[str, Any]


def charge(effect: ToolEffect, charge_id: str, intent_id: str, at: datetime) -> Body:
    """A charge that went through, for what the effect asked for."""
    return {
        "id": charge_id,
        "object": "charge",
        "amount": effect.amount_minor,
        "amount_captured": effect.amount_minor,
        "amount_refunded": 0,
        "captured": True,
        "created": int(at.timestamp()),
        "currency": effect.currency,
        "livemode": False,
        "metadata": marks(effect),
        "payment_intent": intent_id or None,
        "refunded": False,
        "status": "succeeded",
    }


def declined(effect: ToolEffect, intent_id: str, at: datetime) -> Body:
    """An intent whose card was declined."""
    return {
        "id": intent_id,
        "object": "payment_intent",
        "amount": effect.amount_minor,
        "amount_received": 0,
        "created": int(at.timestamp()),
        "currency": effect.currency,
        "last_payment_error": {"code": "card_declined", "decline_code": "generic_decline"},
        "latest_charge": None,
        "livemode": False,
        "metadata": marks(effect),
        "status": "requires_payment_method",
    }


def refund(refund_id: str, charge_id: str, amount: int, currency: str, at: datetime, **given: Any) -> Body:
    return {
        "id": refund_id,
        "object": "refund",
        "amount": amount,
        "balance_transaction": {"object": "balance_transaction", "reporting_category": "refund"},
        "charge": charge_id,
        "created": int(at.timestamp()),
        "currency": currency,
        "metadata": {},
        "status": "succeeded",
        **given,
    }


def dispute(dispute_id: str, charge_id: str, amount: int, currency: str, at: datetime) -> Body:
    return {
        "id": dispute_id,
        "object": "dispute",
        "amount": amount,
        "charge": charge_id,
        "created": int(at.timestamp()),
        "currency": currency,
        "is_charge_refundable": False,
        "metadata": {},
        "reason": "product_not_received",
        "status": "needs_response",
    }


def event(event_id: str, kind: str, carried: Body, at: datetime) -> Body:
    return {
        "id": event_id,
        "object": "event",
        "created": int(at.timestamp()),
        "data": {"object": carried},
        "livemode": False,
        "request": {"id": None, "idempotency_key": None},
        "type": kind,
    }


def marks(effect: ToolEffect) -> dict[str, str]:
    """What goes along with every request, and comes back with what it made."""
    return {EFFECT_METADATA: str(effect.pk), KEY_METADATA: effect.idempotency_key}
