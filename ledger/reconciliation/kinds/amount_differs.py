"""The same movement, with another amount at the processor."""

from uuid import UUID

from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.vocabulary import FindingKind


def amount_differs(judged: Judged, *, effect_id: UUID | None, reference: str) -> Seen:
    """Name the difference, processor less ledger."""
    return judged.differing(
        FindingKind.AMOUNT_DIFFERS,
        effect_id=effect_id,
        reference=reference,
        amount_minor=judged.difference_minor,
        ledger=judged.ledger_minor,
        processor=judged.processor_minor,
    )
