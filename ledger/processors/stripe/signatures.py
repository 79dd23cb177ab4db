"""Stripe's signature on a webhook, checked over the bytes as they came."""

from collections.abc import Iterable

import stripe

# Older than this, it may be somebody's recording.
TOLERANCE_SECONDS = 300


def is_signed(body: bytes, header: str, secrets: Iterable[str]) -> bool:
    """Tell whether one of the secrets signed these bytes within the tolerance."""
    return any(_is_signed_with(body, header, secret) for secret in secrets)


def _is_signed_with(body: bytes, header: str, secret: str) -> bool:
    try:
        stripe.WebhookSignature.verify_header(body, header, secret, TOLERANCE_SECONDS)
    except (stripe.SignatureVerificationError, ValueError):
        return False
    return True
