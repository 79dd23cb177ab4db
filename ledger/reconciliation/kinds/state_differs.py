"""Ledger and processor know the same movement and disagree on what became of it.

The cause is named, so its money counts as explained: evidence that was missed, or that came
after the cut-off.
"""

from uuid import UUID

from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.vocabulary import FindingKind


def state_differs(judged: Judged, *, effect_id: UUID | None, reference: str) -> Seen:
    return judged.differing(
        FindingKind.STATE_DIFFERS,
        effect_id=effect_id,
        reference=reference,
        amount_minor=judged.difference_minor,
        ledger=judged.ledger_state,
        processor=judged.processor_state,
    )
