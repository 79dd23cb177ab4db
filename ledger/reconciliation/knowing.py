"""What the ledger and the statements know of the objects of one batch; a fixed number of questions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from access.models import Realm
from ledger.arrays import among, among_filled, among_ids
from ledger.models import EffectReference, MatchDecision, StatementLine, ToolEffect
from ledger.reconciliation.as_of import (
    CHARGE_REFERENCES,
    DisputeAsOf,
    EffectAsOf,
    RefundAsOf,
    disputes_as_of,
    effects_as_of,
    refunds_as_of,
)
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.movements import Movement, movements_of
from ledger.statements.vocabulary import LineKind
from ledger.vocabulary import Operation, ReferenceKind


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
    """A key is unique in its realm: of two realms that have one, the run's own is meant."""
    keys = {movement.key_mark for movement in movements if movement.key_mark and not movement.effect_mark}
    if not keys:
        return
    own = context.run.realm_id
    realms = Realm.objects.values_list("pk", flat=True)
    effects = ToolEffect.objects.filter(realm_id__in=list(realms), idempotency_key__in=keys)
    for key, effect_id, realm_id in effects.values_list("idempotency_key", "pk", "realm_id").order_by("pk"):
        if realm_id == own or key not in known.by_key:
            known.by_key[key] = effect_id


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
    asked = among_filled("external_ref", (movement.reference for movement in refunds)) | Q(pk__in=marks)
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
        # Some statements name no charge with a dispute: whose it is, the ledger says.
        missing = {dispute.effect_id for dispute in found if dispute.effect_id} - known.effects.keys()
        known.effects.update(effects_as_of(missing, as_of=context.as_of))


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
        statement_id__in=context.positions,
        trouble="",
        kind__in=[LineKind.CHARGE, LineKind.REFUND, LineKind.RELEASE],
    )
    of_effects = among_filled("charge_ref", charges) | Q(among_ids("effect_mark", known.effects))
    further = set(lines.filter(of_effects).values_list("reference", flat=True))
    if known.by_key:
        of_keys = lines.filter(among_filled("key_mark", known.by_key))
        further |= set(of_keys.values_list("reference", flat=True))
    further -= read
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
        owner = owner or known.by_key.get(movement.key_mark)
        if owner in known.effects:
            known.of_effect.setdefault(owner, []).append(movement)
