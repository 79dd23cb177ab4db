"""The receipt: counts, times and keyed digests, in canonical JSON, signed with a key of the settings."""

import hashlib
import hmac
import json
from datetime import datetime
from typing import Any

from django.conf import settings

from retention.models import ErasureReceipt, ErasureRequest


def write_receipt(*, request: ErasureRequest, now: datetime) -> ErasureReceipt:
    """Write and sign what was done; whoever has the key can check it, nobody is recognised from it."""
    body = json.dumps(_content(request, now), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return ErasureReceipt.objects.create(
        request=request, body=body, signature=sign(body), key_mark=key_mark(), made_at=now
    )


def is_genuine(receipt: ErasureReceipt) -> bool:
    """Tell whether the receipt's bytes are those that this installation's key signed."""
    return hmac.compare_digest(sign(receipt.body), receipt.signature)


def sign(body: str) -> str:
    return hmac.new(_key(), body.encode(), hashlib.sha256).hexdigest()


def key_mark() -> str:
    """A mark of the key: two receipts with one mark were signed with one key."""
    return hashlib.sha256(b"mark\0" + _key()).hexdigest()[:12]


def _key() -> bytes:
    return hmac.new(settings.DIGEST_KEY.encode(), b"erasure receipts", hashlib.sha256).digest()


def _content(request: ErasureRequest, now: datetime) -> dict[str, Any]:
    steps = list(request.steps.order_by("place"))
    return {
        "request": request.number,
        "received_at": _moment(request.received_at),
        "completed_at": _moment(now),
        "origin": request.origin,
        "taken_in_by": request.taken_in_by_id,
        "taken_in_by_key": request.taken_in_by_key_id,
        "identity_checked_by": request.identity_checked_by_id,
        "approved_by": request.approved_by_id,
        "identity_check": request.identity_check,
        "steps": [
            {
                "step": step.name,
                "state": step.state,
                "erased": step.erased,
                "pseudonymised": step.pseudonymised,
                "kept": step.kept,
                "finished_at": _moment(step.finished_at or now),
            }
            for step in steps
        ],
        "erased": _sum(step.erased for step in steps),
        "pseudonymised": _sum(step.pseudonymised for step in steps),
        "found_again": 0,
        "identifiers": sorted(
            {
                f"hmac-sha256:{bytes(digest).hex()}"
                for digest in request.identifiers.values_list("digest", flat=True)
            }
        ),
        "hosted_copies": {
            "requested": request.hosted_copies.filter(state="requested").count(),
            "confirmed": request.hosted_copies.filter(state="confirmed").count(),
        },
    }


def _sum(counts: Any) -> dict[str, int]:
    total: dict[str, int] = {}
    for counted in counts:
        for store, number in counted.items():
            total[store] = total.get(store, 0) + number
    return dict(sorted(total.items()))


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
