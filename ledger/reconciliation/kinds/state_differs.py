"""Ledger and processor know the same movement and disagree on what became of it.

The cause is named, so its money counts as explained: evidence that was missed, or that came
after the cut-off.
"""

from uuid import UUID

from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.vocabulary import FindingKind


def state_differs(judged: Judged, *, effect_id: UUID | None, reference: str) -> Seen:
    return Seen(
        kind=FindingKind.STATE_DIFFERS,
        subject=f"{judged.kind}:{judged.reference}",
        occurred_at=judged.occurred_at,
        effect_id=effect_id,
        compensation_id=judged.compensation_id,
        reference=reference,
        currency=judged.currency,
        amount_minor=judged.difference_minor,
        facts={
            "movement": judged.kind.value,
            "ledger": judged.ledger_state,
            "processor": judged.processor_state,
            "statement": True,
        },
    )
