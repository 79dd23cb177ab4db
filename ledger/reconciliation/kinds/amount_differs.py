"""The same movement, with another amount at the processor."""

from uuid import UUID

from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.vocabulary import FindingKind


def amount_differs(judged: Judged, *, effect_id: UUID, reference: str) -> Seen:
    """Name the difference, processor less ledger."""
    return Seen(
        kind=FindingKind.AMOUNT_DIFFERS,
        subject=f"{judged.kind}:{judged.reference}",
        occurred_at=judged.occurred_at,
        effect_id=effect_id,
        compensation_id=judged.compensation_id,
        reference=reference,
        currency=judged.currency,
        amount_minor=judged.difference_minor,
        facts={
            "movement": judged.kind.value,
            "ledger": judged.ledger_minor,
            "processor": judged.processor_minor,
            "statement": True,
        },
    )
