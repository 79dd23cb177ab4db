"""What an error of Stripe's SDK says of the request that it answers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import stripe

from ledger.evidence import OutcomeSeen
from ledger.processors.protocol import Heard
from ledger.processors.stripe import objects
from ledger.processors.stripe.calls import plain
from ledger.vocabulary import EffectState, EvidenceSource

# Nothing ran: the request was stopped before it could, or the key is still at work.
_SAYS_NOTHING = (
    stripe.APIConnectionError,
    stripe.AuthenticationError,
    stripe.PermissionError,
    stripe.RateLimitError,
)
_DECLINED, _CONFLICT = 402, 409
# Parameters that were refused, or named what is not there; the key with other parameters is a 400 too.
_REFUSED = (400, 404)
_RATE_LIMIT = "rate_limit"


def read_error(error: Exception) -> Heard:
    """Read an error: a declined card and a refused request are outcomes, a lost answer is none.

    A 500 is none either: it may have been saved under the key with the charge made.
    """
    if not isinstance(error, stripe.StripeError) or isinstance(error, _SAYS_NOTHING):
        return Heard()
    reference = error.request_id or ""
    if isinstance(error, stripe.IdempotencyError):
        return Heard(is_key_reused=True, reference=reference)
    if isinstance(error, stripe.CardError):
        detail = {"payment_intent": _part(error, "payment_intent"), "charge": _part(error, "charge")}
        return _declined(detail, code=code_of(error), reference=reference)
    if isinstance(error, stripe.InvalidRequestError) and error.http_status != _CONFLICT:
        return _refused(code=code_of(error), reference=reference)
    return Heard()


def read_refusal(*, status: int, body: Mapping[str, Any], request_id: str) -> Heard:
    """Read the same from an error's HTTP status and body, where the application has no Python."""
    detail = body.get("error")
    if not isinstance(detail, Mapping):
        return Heard()
    if detail.get("type") == "idempotency_error" and status in _REFUSED:
        return Heard(is_key_reused=True, reference=request_id)
    code = next((found for name in ("code", "param", "type") if (found := objects.text(detail, name))), "")
    if status == _DECLINED:
        return _declined(detail, code=code, reference=request_id)
    if status in _REFUSED and code != _RATE_LIMIT:
        return _refused(code=code, reference=request_id)
    return Heard()


def _part(error: stripe.StripeError, name: str) -> Any:
    found = getattr(error.error, name, None)
    return plain(found) if isinstance(found, stripe.StripeObject) else found


def code_of(error: stripe.StripeError) -> str:
    """Return Stripe's word for a refusal; some have none and name only the parameter."""
    detail = error.error
    code = error.code or getattr(detail, "code", None) or getattr(detail, "param", None)
    return str(code) if code else type(error).__name__


def _declined(detail: Mapping[str, Any], *, code: str, reference: str) -> Heard:
    """A declined attempt leaves its charge and its intent behind: both are in the error."""
    intent = detail.get("payment_intent")
    if isinstance(intent, Mapping):
        seen = objects.intent_seen(intent, source=EvidenceSource.ANSWER)
        return Heard(seen=seen, reference=reference)
    heard = _refused(code=code, reference=objects.id_of(detail.get("charge")) or reference)
    return replace(heard, reference=reference)


def _refused(*, code: str, reference: str) -> Heard:
    seen = OutcomeSeen(
        processor=objects.NAME,
        source=EvidenceSource.ANSWER,
        reference=reference or code,
        status=code,
        outcome=EffectState.FAILED,
    )
    return Heard(seen=seen, reference=reference)
