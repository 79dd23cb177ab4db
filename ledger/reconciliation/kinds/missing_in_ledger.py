"""The processor moved money that the ledger has no row for."""

from ledger.reconciliation.as_of import EffectAsOf
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.vocabulary import FindingKind


def missing_in_ledger(movement: Movement, *, suggestion: EffectAsOf | None = None) -> Seen:
    """Name the movement; where an effect without an answer fits, it is named for a person to confirm."""
    return Seen(
        kind=FindingKind.MISSING_IN_LEDGER,
        subject=f"{movement.kind}:{movement.reference}",
        occurred_at=movement.occurred_at,
        effect_id=suggestion.id if suggestion else None,
        reference=movement.reference,
        currency=movement.currency,
        amount_minor=movement.amount_minor,
        facts={
            "movement": movement.kind.value,
            "charge": movement.charge_ref,
            "is_suggested": suggestion is not None,
            "statement": True,
        },
    )
