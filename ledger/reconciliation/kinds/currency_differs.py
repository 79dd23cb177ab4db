"""The same movement, in another currency at the processor: the amounts do not compare."""

from uuid import UUID

from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.vocabulary import FindingKind


def currency_differs(judged: Judged, *, effect_id: UUID | None, reference: str) -> Seen:
    return judged.differing(
        FindingKind.CURRENCY_DIFFERS,
        effect_id=effect_id,
        reference=reference,
        amount_minor=judged.processor_minor,
        ledger=judged.ledger_minor,
        ledger_currency=judged.ledger_currency,
        processor=judged.processor_minor,
    )
