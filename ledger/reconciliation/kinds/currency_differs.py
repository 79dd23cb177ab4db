"""The same movement, in another currency at the processor: the amounts do not compare."""

from uuid import UUID

from ledger.reconciliation.judged import Judged, Seen
from ledger.reconciliation.vocabulary import FindingKind


def currency_differs(judged: Judged, *, effect_id: UUID, reference: str) -> Seen:
    return Seen(
        kind=FindingKind.CURRENCY_DIFFERS,
        subject=f"{judged.kind}:{judged.reference}",
        occurred_at=judged.occurred_at,
        effect_id=effect_id,
        compensation_id=judged.compensation_id,
        reference=reference,
        currency=judged.currency,
        amount_minor=judged.processor_minor,
        facts={
            "movement": judged.kind.value,
            "ledger": judged.ledger_minor,
            "ledger_currency": judged.ledger_currency,
            "processor": judged.processor_minor,
            "statement": True,
        },
    )
