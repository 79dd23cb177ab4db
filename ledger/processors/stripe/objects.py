"""Stripe's objects in the ledger's words. Reads plain mappings; no network, no database.

An object says what it is in `object`; the name of the event that brought it is never asked
(`charge.refund.updated` carries a refund). Fields that are missing, expanded or of another
API version are taken as they come.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from conversations.wire.literals import readable_copy
from ledger.evidence import (
    COMPENSATION_METADATA,
    EFFECT_METADATA,
    KEY_METADATA,
    DisputeSeen,
    OutcomeSeen,
    RefundSeen,
)
from ledger.vocabulary import EffectState, EvidenceSource, ReferenceKind

NAME = "stripe"
Body = Mapping[str, Any]

_INTENT_OUTCOMES = {
    "succeeded": EffectState.APPLIED,
    "canceled": EffectState.FAILED,
}
_REFUND_OUTCOMES = {
    "succeeded": EffectState.APPLIED,
    "failed": EffectState.FAILED,
    "canceled": EffectState.FAILED,
}
_LONGEST = 255
_MOST = 2**63 - 1
_NO_CURRENCY = "xxx"
_CLOSED_DISPUTES = frozenset({"won", "lost", "warning_closed", "prevented", "charge_refunded"})


def moment(seconds: Any) -> datetime | None:
    """Return the moment; None where there is none, or none that a clock can show."""
    if not isinstance(seconds, int) or isinstance(seconds, bool):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def id_of(value: Any) -> str:
    """Return an id, whether the field holds it or the whole object."""
    if isinstance(value, Mapping):
        value = value.get("id")
    return _storable(value) if isinstance(value, str) else ""


def intent_seen(intent: Body, *, source: EvidenceSource, **seen: Any) -> OutcomeSeen:
    """What a payment intent says. A declined attempt is a failure until another attempt succeeds."""
    status = text(intent, "status")
    outcome = _INTENT_OUTCOMES.get(status, EffectState.PENDING)
    if status == "requires_payment_method" and intent.get("last_payment_error"):
        outcome = EffectState.FAILED
    charge = id_of(intent.get("latest_charge"))
    error = intent.get("last_payment_error")
    if not charge and isinstance(error, Mapping):
        charge = id_of(error.get("charge"))
    references = [(ReferenceKind.INTENT, id_of(intent))]
    if charge:
        references.append((ReferenceKind.CHARGE, charge))
    return OutcomeSeen(
        outcome=outcome,
        reference=charge or id_of(intent),
        references=references,
        amount_minor=whole(intent, "amount_received") if outcome == EffectState.APPLIED else None,
        **_common(intent, source, seen),
    )


def charge_seen(charge: Body, *, source: EvidenceSource, **seen: Any) -> OutcomeSeen:
    """What a charge says. One that is only authorised has moved nothing yet."""
    status = text(charge, "status")
    outcome = EffectState.PENDING
    if status == "failed" or (charge.get("captured") is False and charge.get("refunded") is True):
        outcome = EffectState.FAILED
    elif status == "succeeded" and charge.get("captured") is not False:
        outcome = EffectState.APPLIED
    captured = whole(charge, "amount_captured")
    references = [(ReferenceKind.CHARGE, id_of(charge))]
    if intent := id_of(charge.get("payment_intent")):
        references.append((ReferenceKind.INTENT, intent))
    return OutcomeSeen(
        outcome=outcome,
        reference=id_of(charge),
        references=references,
        amount_minor=captured if captured is not None else whole(charge, "amount"),
        **_common(charge, source, seen),
    )


def refund_seen(refund: Body, *, source: EvidenceSource, **seen: Any) -> RefundSeen:
    """What a refund says. Whether it releases an authorisation stands on its balance row, if expanded."""
    row = refund.get("balance_transaction")
    is_release: bool | None = None
    if isinstance(row, Mapping):
        is_release = row.get("reporting_category") == "partial_capture_reversal"
    elif metadata_of(refund):
        is_release = False
    return RefundSeen(
        outcome=_REFUND_OUTCOMES.get(text(refund, "status"), EffectState.PENDING),
        reference=id_of(refund),
        charge_ref=id_of(refund.get("charge")),
        intent_ref=id_of(refund.get("payment_intent")),
        amount_minor=whole(refund, "amount"),
        failure_code=text(refund, "failure_reason"),
        compensation_id=uuid_in(metadata_of(refund), COMPENSATION_METADATA),
        is_release=is_release,
        **_common(refund, source, seen),
    )


def refund_outcome(refund: RefundSeen) -> OutcomeSeen:
    """The same refund as the outcome of a tool's own call."""
    references = [(ReferenceKind.REFUND, refund.reference), (ReferenceKind.TARGET, refund.charge_ref)]
    return OutcomeSeen(
        processor=refund.processor,
        source=refund.source,
        reference=refund.reference,
        status=refund.status,
        currency=refund.currency,
        amount_minor=refund.amount_minor,
        occurred_at=refund.occurred_at,
        effect_id=refund.effect_id,
        idempotency_key=refund.idempotency_key,
        raw_id=refund.raw_id,
        outcome=refund.outcome,
        references=[(kind, reference) for kind, reference in references if reference],
    )


def dispute_seen(dispute: Body, *, source: EvidenceSource, **seen: Any) -> DisputeSeen:
    common = _common(dispute, source, seen)
    opened = moment(dispute.get("created")) or common["occurred_at"]
    return DisputeSeen(
        reference=id_of(dispute),
        charge_ref=id_of(dispute.get("charge")),
        intent_ref=id_of(dispute.get("payment_intent")),
        reason=text(dispute, "reason"),
        is_open=text(dispute, "status") not in _CLOSED_DISPUTES,
        opened_at=opened,
        amount_minor=whole(dispute, "amount"),
        **common,
    )


def metadata_of(body: Body) -> Body:
    metadata = body.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def uuid_in(metadata: Body, name: str) -> UUID | None:
    """Return the id that metadata hold, or None: anybody with a key can write there."""
    try:
        return UUID(str(metadata[name]))
    except (KeyError, ValueError):
        return None


def text(body: Body, name: str) -> str:
    value = body.get(name)
    return _storable(value) if isinstance(value, str) else ""


def whole(body: Body, name: str) -> int | None:
    """Return a whole number that a column of money holds; None for anything else."""
    value = body.get(name)
    is_whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST
    return value if is_whole else None


def unreadable_member(body: Body) -> str:
    """Return the first member that is read otherwise than it stands there; empty where there is none.

    An event is the processor's own, signed, and is read as far as that goes. What somebody hands in as
    an answer moves money's state, and has to be one as it stands.
    """
    for name in ("id", "latest_charge", "charge", "payment_intent"):
        value = body.get(name)
        if isinstance(value, str) and id_of(value) != value:
            return name
    for name in ("amount", "amount_received", "amount_refunded"):
        if isinstance(body.get(name), int) and whole(body, name) is None:
            return name
    if isinstance(body.get("created"), int) and moment(body["created"]) is None:
        return "created"
    return ""


def currency_of(body: Body) -> str:
    """Return the code of the currency; what is none is XXX, and never the beginning of another one."""
    code = text(body, "currency").lower()
    return code if len(code) in (0, 3) else _NO_CURRENCY


def _storable(value: str) -> str:
    return readable_copy(value)[:_LONGEST]


def _common(body: Body, source: EvidenceSource, seen: Mapping[str, Any]) -> dict[str, Any]:
    metadata = metadata_of(body)
    return {
        "processor": NAME,
        "source": source,
        "status": text(body, "status"),
        "currency": currency_of(body),
        "occurred_at": moment(body.get("created")),
        "effect_id": uuid_in(metadata, EFFECT_METADATA),
        "idempotency_key": text(metadata, KEY_METADATA),
        **{name: value for name, value in seen.items() if value},
    }
