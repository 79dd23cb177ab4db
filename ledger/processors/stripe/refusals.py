"""What an error of Stripe's SDK says of the request that it answers."""

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
_CONFLICT = 409


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
        return Heard(seen=_declined(error), reference=reference)
    if isinstance(error, stripe.InvalidRequestError) and error.http_status != _CONFLICT:
        return Heard(seen=_refused(error, code=code_of(error)), reference=reference)
    return Heard()


def code_of(error: stripe.StripeError) -> str:
    """Return Stripe's word for a refusal; some have none and name only the parameter."""
    detail = error.error
    code = error.code or getattr(detail, "code", None) or getattr(detail, "param", None)
    return str(code) if code else type(error).__name__


def _declined(error: stripe.CardError) -> OutcomeSeen:
    """A declined attempt leaves its charge and its intent behind: both are in the error."""
    intent = getattr(error.error, "payment_intent", None)
    if intent is not None:
        return objects.intent_seen(plain(intent), source=EvidenceSource.ANSWER)
    return _refused(error, code=code_of(error), reference=str(getattr(error.error, "charge", "") or ""))


def _refused(error: stripe.StripeError, *, code: str, reference: str = "") -> OutcomeSeen:
    return OutcomeSeen(
        processor=objects.NAME,
        source=EvidenceSource.ANSWER,
        reference=reference or error.request_id or code,
        status=code,
        outcome=EffectState.FAILED,
    )
