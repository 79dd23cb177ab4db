"""Stripe's events as short as a test needs them, and the signature that goes with them."""

import json
import time
from typing import Any

import stripe

CREATED = 1773064980  # 2026-03-09 14:03:00 UTC


def event(
    kind: str, carried: dict[str, Any], *, event_id: str, created: int = CREATED, key: str = ""
) -> bytes:
    return json.dumps(
        {
            "id": event_id,
            "object": "event",
            "type": kind,
            "created": created,
            "data": {"object": carried},
            "request": {"id": "req_1", "idempotency_key": key or None},
        }
    ).encode()


def charge(charge_id: str = "ch_TEST0090", **given: Any) -> dict[str, Any]:
    return {
        "id": charge_id,
        "object": "charge",
        "amount": 5000,
        "amount_captured": 5000,
        "amount_refunded": 0,
        "captured": True,
        "created": CREATED,
        "currency": "usd",
        "metadata": {},
        "payment_intent": "pi_TEST0090",
        "status": "succeeded",
        **given,
    }


def refund(refund_id: str = "re_TEST0090", **given: Any) -> dict[str, Any]:
    return {
        "id": refund_id,
        "object": "refund",
        "amount": 1200,
        "charge": "ch_TEST0090",
        "created": CREATED + 60,
        "currency": "usd",
        "metadata": {},
        "payment_intent": "pi_TEST0090",
        "status": "succeeded",
        **given,
    }


def dispute(dispute_id: str = "dp_TEST0090", **given: Any) -> dict[str, Any]:
    return {
        "id": dispute_id,
        "object": "dispute",
        "amount": 5000,
        "charge": "ch_TEST0090",
        "created": CREATED + 90,
        "currency": "usd",
        "metadata": {},
        "payment_intent": "pi_TEST0090",
        "reason": "fraudulent",
        "status": "needs_response",
        **given,
    }


def signature(body: bytes, secret: str, *, at: float | None = None) -> str:
    moment = int(time.time() if at is None else at)
    signed = stripe.WebhookSignature._compute_signature(f"{moment}.{body.decode()}", secret)
    return f"t={moment},v1={signed}"
