"""Tying movements to rows of the ledger: by the processor's ids, then by what came back in the
metadata, then by a person's word, then, as a suggestion only, by amount, time and account.

A batch asks a fixed number of questions, whatever its size.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from django.db.models import Q

from ledger.arrays import among, among_ids
from ledger.models import EffectReference, MatchDecision, StatementLine, ToolEffect
from ledger.reconciliation.as_of import (
    CHARGE_REFERENCES,
    DisputeAsOf,
    EffectAsOf,
    RefundAsOf,
    disputes_as_of,
    effects_as_of,
    pending_as_of,
    refunds_as_of,
)
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.movements import Movement, movements_of
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind, LineStatus
from ledger.vocabulary import Operation, ReferenceKind

# A suggestion is no further from its movement than this.
NEAR = timedelta(hours=24)


@dataclass(slots=True)
class Known:
    """What the ledger and the statements know about the objects of one batch, as of the cut-off."""

    effects: dict[UUID, EffectAsOf] = field(default_factory=dict)
    # A reference of the processor → the effect whose charge, intent or refund it is; the oldest first.
    by_reference: dict[str, list[tuple[str, UUID]]] = field(default_factory=dict)
    by_key: dict[str, UUID] = field(default_factory=dict)
    refunds: dict[str, RefundAsOf] = field(default_factory=dict)
    refunds_by_id: dict[UUID, RefundAsOf] = field(default_factory=dict)
    disputes: dict[str, DisputeAsOf] = field(default_factory=dict)
    decisions: dict[str, dict[UUID, bool]] = field(default_factory=dict)
    # Charges without an answer that nothing leads to; read when first asked for.
    pending: list[EffectAsOf] | None = None
    # What the statements say of the same references and of the same effects.
    siblings: dict[tuple[str, str], Movement] = field(default_factory=dict)
    of_effect: dict[UUID, list[Movement]] = field(default_factory=dict)
    suggested: set[UUID] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Tie:
    effect: EffectAsOf
    matched_by: MatchedBy


def know(context: RunContext, movements: Sequence[Movement], every: Sequence[Movement]) -> Known:
    """Read everything that judging these movements asks for; `every` is all that is said of their objects."""
    known = Known()
    run = context.run
    references = _references(movements)
    _read_references(known, context, references)
    marks = {movement.effect_mark for movement in movements if movement.effect_mark}
    _read_keys(known, context, movements)
    _read_decisions(known, context, movements)
    ids = {effect_id for found in known.by_reference.values() for _, effect_id in found}
    ids |= marks | set(known.by_key.values())
    ids |= {effect_id for decided in known.decisions.values() for effect_id in decided}
    known.effects = effects_as_of(
        ToolEffect.objects.filter(among_ids("id", ids), processor=run.processor).values_list("pk", flat=True),
        as_of=context.as_of,
    )
    _read_refunds(known, context, movements)
    _read_disputes(known, context, movements)
    _read_siblings(known, context, every)
    return known


_DISPUTES = (LineKind.DISPUTE, LineKind.DISPUTE_REVERSAL)


def _references(movements: Iterable[Movement]) -> set[str]:
    found: set[str] = set()
    for movement in movements:
        found.update((movement.reference, movement.charge_ref, movement.intent_ref))
    found.discard("")
    return found


def _read_references(known: Known, context: RunContext, references: set[str]) -> None:
    rows = EffectReference.objects.filter(
        among("reference", references),
        context.as_of.known("seen_at"),
        processor=context.run.processor,
        kind__in=[*CHARGE_REFERENCES, ReferenceKind.REFUND],
    ).order_by("id")
    for reference, kind, effect_id in rows.values_list("reference", "kind", "effect_id"):
        known.by_reference.setdefault(reference, []).append((kind, effect_id))


def _read_keys(known: Known, context: RunContext, movements: Sequence[Movement]) -> None:
    keys = {movement.key_mark for movement in movements if movement.key_mark and not movement.effect_mark}
    if keys:
        effects = ToolEffect.objects.filter(realm_id=context.run.realm_id, idempotency_key__in=keys)
        known.by_key = dict(effects.values_list("idempotency_key", "pk"))


def _read_decisions(known: Known, context: RunContext, movements: Sequence[Movement]) -> None:
    decided = MatchDecision.objects.filter(
        among(
            "reference", (movement.reference for movement in movements if movement.kind == LineKind.CHARGE)
        ),
        processor=context.run.processor,
        realm_id=context.run.realm_id,
        decided_at__lte=context.run.decisions_until,
        written_order__lt=context.as_of.written_before,
    ).order_by("id")
    for reference, effect_id, is_confirmed in decided.values_list("reference", "effect_id", "is_confirmed"):
        known.decisions.setdefault(reference, {})[effect_id] = is_confirmed


def _read_refunds(known: Known, context: RunContext, movements: Sequence[Movement]) -> None:
    refunds = [m for m in movements if m.kind in (LineKind.REFUND, LineKind.REFUND_FAILURE)]
    marks = [movement.compensation_mark for movement in refunds if movement.compensation_mark]
    asked = Q(among("external_ref", (movement.reference for movement in refunds))) | Q(pk__in=marks)
    charges = [effect.id for effect in known.effects.values() if effect.operation == Operation.CHARGE]
    asked |= Q(among_ids("effect_id", charges)) & ~Q(external_ref="")
    of_processor = Q(effect__processor=context.run.processor)
    found = refunds_as_of(of_processor & asked, as_of=context.as_of)
    # A refund of an effect that nothing else led to.
    missing = {refund.effect_id for refund in found} - known.effects.keys()
    known.effects.update(effects_as_of(missing, as_of=context.as_of))
    for refund in found:
        # Two clocks may tell of a refund before they tell of its charge: then both are to come.
        if refund.effect_id in known.effects:
            known.refunds_by_id[refund.id] = refund
            if refund.reference:
                known.refunds[refund.reference] = refund


def _read_disputes(known: Known, context: RunContext, movements: Sequence[Movement]) -> None:
    references = [movement.reference for movement in movements if movement.kind in _DISPUTES]
    if references:
        of_lines = Q(processor=context.run.processor, external_ref__in=references)
        found = disputes_as_of(of_lines, as_of=context.as_of)
        known.disputes = {dispute.reference: dispute for dispute in found}


def _read_siblings(known: Known, context: RunContext, every: Sequence[Movement]) -> None:
    """Read what the statements say further: a refund's failure, a second charge, what was released."""
    known.siblings = {movement.key: movement for movement in every}
    read = {movement.reference for movement in every}
    charges = {
        reference
        for effect in known.effects.values()
        for reference, kind in effect.references.items()
        if kind == ReferenceKind.CHARGE
    }
    lines = StatementLine.objects.filter(
        Q(among("charge_ref", charges)) | Q(among_ids("effect_mark", known.effects)),
        statement_id__in=context.positions,
        trouble="",
        kind__in=[LineKind.CHARGE, LineKind.REFUND, LineKind.RELEASE],
    )
    further = set(lines.values_list("reference", flat=True)) - read
    owners = {
        reference: effect.id
        for effect in known.effects.values()
        for reference, kind in effect.references.items()
        if kind == ReferenceKind.CHARGE and effect.operation == Operation.CHARGE
    }
    for movement in (*every, *movements_of(further, positions=context.positions)):
        if movement.kind not in (LineKind.CHARGE, LineKind.REFUND, LineKind.RELEASE):
            continue
        owner = owners.get(movement.charge_ref) or owners.get(movement.reference) or movement.effect_mark
        if owner in known.effects:
            known.of_effect.setdefault(owner, []).append(movement)


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


def suggest(context: RunContext, known: Known, movement: Movement) -> EffectAsOf | None:
    """Return an effect without an answer that this could be: same amount, near in time, same customer.

    None where several are equally near in nothing but the amount: a guess is no suggestion.
    """
    if known.pending is None:
        known.pending = _pending(context)
    refused = known.decisions.get(movement.reference, {})
    near = [
        effect
        for effect in known.pending
        if (effect.amount_minor, effect.currency) == (movement.amount_minor, movement.currency)
        and abs(effect.requested_at - movement.occurred_at) <= NEAR
        and effect.id not in known.suggested
        and refused.get(effect.id) is not False
        and not (effect.customer and movement.customer_ref and effect.customer != movement.customer_ref)
    ]
    if not near:
        return None
    best = min(near, key=lambda effect: (abs(effect.requested_at - movement.occurred_at), effect.id))
    known.suggested.add(best.id)
    return best


def _pending(context: RunContext) -> list[EffectAsOf]:
    """Read the charges without an answer that no id and no metadata of this run's statements lead to."""
    run = context.run
    ids = pending_as_of(
        realm_id=run.realm_id, processor=run.processor, before=run.cut_off, as_of=context.as_of
    )
    taken: set[UUID | None] = set(run.rows.filter(effect_id__in=ids).values_list("effect_id", flat=True))
    marked = StatementLine.objects.filter(statement_id__in=context.positions, effect_mark__in=ids)
    taken |= set(marked.values_list("effect_mark", flat=True))
    free = [effect_id for effect_id in ids if effect_id not in taken]
    return [
        effect
        for effect in effects_as_of(free, as_of=context.as_of).values()
        if effect.operation == Operation.CHARGE and not effect.references
    ]


def _marked(known: Known, movement: Movement) -> EffectAsOf | None:
    if movement.effect_mark is not None:
        return known.effects.get(movement.effect_mark)
    effect_id = known.by_key.get(movement.key_mark) if movement.key_mark else None
    return known.effects.get(effect_id) if effect_id is not None else None


def is_first_charge(known: Known, effect: EffectAsOf, movement: Movement) -> bool:
    """Whether this is the charge that the effect is, and not a second one under its key."""
    if effect.is_settled and effect.external_ref:
        if effect.external_ref in (movement.reference, movement.intent_ref):
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
