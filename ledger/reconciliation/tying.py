"""Tying movements to rows of the ledger: by the processor's ids, then by what came back in the
metadata, then by a person's word. What is left may be a suggestion (`suggesting.py`).
"""

from dataclasses import dataclass
from uuid import UUID

from ledger.reconciliation.as_of import (
    EffectAsOf,
    RefundAsOf,
)
from ledger.reconciliation.knowing import Known
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind, LineStatus
from ledger.vocabulary import Operation, ReferenceKind


@dataclass(frozen=True, slots=True)
class Tie:
    effect: EffectAsOf
    matched_by: MatchedBy


def tie_charge(known: Known, movement: Movement) -> Tie | None:
    """Return the charge that a movement is of, and by what it was known."""
    for reference, kind in (
        (movement.reference, ReferenceKind.CHARGE),
        (movement.reference, ReferenceKind.INTENT),
        (movement.intent_ref, ReferenceKind.INTENT),
    ):
        for known_as, effect_id in known.by_reference.get(reference, ()):
            effect = known.effects.get(effect_id)
            if known_as == kind and effect is not None and effect.operation != Operation.REFUND:
                return Tie(effect, MatchedBy.EXTERNAL_ID)
    marked = _marked(known, movement)
    if marked is not None and marked.operation != Operation.REFUND:
        return Tie(marked, MatchedBy.METADATA)
    for effect_id, is_confirmed in known.decisions.get(movement.reference, {}).items():
        if is_confirmed and effect_id in known.effects:
            return Tie(known.effects[effect_id], MatchedBy.CONFIRMED)
    return None


def tie_refund(known: Known, movement: Movement) -> tuple[RefundAsOf | None, Tie | None]:
    """Return the compensation that a movement is, or the tool's own refund."""
    refund = known.refunds.get(movement.reference)
    if refund is not None:
        return refund, Tie(known.effects[refund.effect_id], MatchedBy.EXTERNAL_ID)
    if movement.compensation_mark is not None:
        refund = known.refunds_by_id.get(movement.compensation_mark)
        if refund is not None and not refund.reference:
            return refund, Tie(known.effects[refund.effect_id], MatchedBy.METADATA)
    for known_as, effect_id in known.by_reference.get(movement.reference, ()):
        effect = known.effects.get(effect_id)
        if known_as == ReferenceKind.REFUND and effect and effect.operation == Operation.REFUND:
            return None, Tie(effect, MatchedBy.EXTERNAL_ID)
    marked = _marked(known, movement)
    if marked is not None and marked.operation == Operation.REFUND:
        return None, Tie(marked, MatchedBy.METADATA)
    return None, None


def charge_of_refund(known: Known, movement: Movement) -> EffectAsOf | None:
    """Return the charge that a refund is of, where the statement or the metadata say it."""
    for reference in (movement.charge_ref, movement.intent_ref):
        for _, effect_id in known.by_reference.get(reference, ()):
            effect = known.effects.get(effect_id)
            if effect is not None and effect.operation == Operation.CHARGE:
                return effect
    marked = _marked(known, movement)
    return marked if marked is not None and marked.operation == Operation.CHARGE else None


def _marked(known: Known, movement: Movement) -> EffectAsOf | None:
    if movement.effect_mark is not None:
        return known.effects.get(movement.effect_mark)
    effect_id = known.by_key.get(movement.key_mark) if movement.key_mark else None
    return known.effects.get(effect_id) if effect_id is not None else None


def is_told_by_its_charge(known: Known, effect: EffectAsOf, movement: Movement) -> bool:
    """Whether this names a payment by its intent while another line of the run names it by its charge."""
    if effect.references.get(movement.reference) != ReferenceKind.INTENT:
        return False
    return any(
        other.kind == LineKind.CHARGE and effect.references.get(other.reference) == ReferenceKind.CHARGE
        for other in known.of_effect.get(effect.id, ())
    )


def is_first_charge(known: Known, effect: EffectAsOf, movement: Movement) -> bool:
    """Whether this is the charge that the effect is, and not a second one under its key."""
    if effect.is_settled and effect.external_ref:
        if effect.external_ref in (movement.reference, movement.intent_ref):
            return True
        # An intent is paid once, by whichever of its charges.
        if effect.references.get(movement.reference) == ReferenceKind.INTENT:
            return True
        is_by_intent = effect.references.get(effect.external_ref) == ReferenceKind.INTENT
        kinds = effect.references.values()
        return is_by_intent and (
            effect.references.get(movement.reference) == ReferenceKind.CHARGE
            or ReferenceKind.CHARGE not in kinds
        )
    charges = [
        other
        for other in known.of_effect.get(effect.id, ())
        if other.kind == LineKind.CHARGE and other.status == LineStatus.DONE
    ]
    if not charges:
        return True
    first = min(charges, key=lambda other: (other.occurred_at, other.reference))
    return first.reference == movement.reference


def compensations_of(known: Known, effect_id: UUID) -> list[RefundAsOf]:
    return [refund for refund in known.refunds_by_id.values() if refund.effect_id == effect_id]
