"""The ledger says that money moved, and no statement of the period shows it."""

from datetime import datetime

from ledger.reconciliation.as_of import EffectAsOf, RefundAsOf
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.vocabulary import FindingKind


def missing_charge(effect: EffectAsOf, *, settled_at: datetime) -> Seen:
    """Name an effect, a charge or a tool's own refund, that the processor does not show."""
    return Seen(
        kind=FindingKind.MISSING_AT_PROCESSOR,
        subject=f"{effect.operation}:{effect.id}",
        occurred_at=settled_at,
        effect_id=effect.id,
        reference=effect.external_ref,
        currency=effect.currency,
        amount_minor=effect.settled_minor,
        facts={"movement": effect.operation, "statement": True},
    )


def missing_refund(effect: EffectAsOf, refund: RefundAsOf, *, settled_at: datetime) -> Seen:
    return Seen(
        kind=FindingKind.MISSING_AT_PROCESSOR,
        subject=f"refund:{refund.reference}",
        occurred_at=settled_at,
        effect_id=effect.id,
        compensation_id=refund.id,
        reference=refund.reference,
        currency=refund.currency,
        amount_minor=refund.amount_minor,
        facts={"movement": "refund", "statement": True},
    )
