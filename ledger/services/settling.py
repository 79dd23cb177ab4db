"""Settling an effect from what the processor says of it.

Any order, any number of times: what is known already changes nothing, an older word does not
undo a newer one. What the legal moves cannot express becomes a contradiction, a row for the
reconciliation; it is never an exception, because a webhook that is refused comes again for days.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.errors import NotFoundError
from ledger.evidence import OutcomeSeen
from ledger.models import Contradiction, EffectMove, EffectReference, ToolEffect
from ledger.services import recounting
from ledger.services.moves import Proof, write_move
from ledger.vocabulary import ContradictionKind, EffectState, EvidenceSource, ReferenceKind


@dataclass(frozen=True, slots=True)
class Settled:
    """The effect after the evidence, and what the evidence changed."""

    effect: ToolEffect
    has_moved: bool
    contradictions: list[ContradictionKind]


@transaction.atomic
def settle_effect(*, effect_id: UUID, seen: OutcomeSeen, actor: Actor, now: datetime) -> Settled:
    """Take in one piece of evidence: references always, a move where it is legal and new.

    Locks the effect. Safe to repeat, and with evidence in any order.
    """
    effect = lock_effect(effect_id)
    add_references(effect, seen, now=now)
    state_before, contradictions = effect.state, _judge(effect, seen)
    if not contradictions and _is_new(effect, seen):
        if effect.sent_at is None and seen.outcome == EffectState.APPLIED:
            contradictions.append(ContradictionKind.SENT_UNMARKED)
        returned = _return_heard_first(effect, seen)
        _take_outcome(effect, seen, actor=actor, now=now)
        if returned is not None:
            _take_return(effect, returned, actor=actor, now=now)
    for kind in contradictions:
        write_contradiction(effect, kind, seen, now=now)
    recounting.recount(effect=effect, actor=actor, now=now)
    return Settled(effect, effect.state != state_before, contradictions)


@transaction.atomic
def settle_absent(*, effect_id: UUID, sent_at: datetime | None, actor: Actor, now: datetime) -> bool:
    """Settle as failed what a consistent list has proven absent; tell whether it was done.

    `sent_at` is what the effect's was when the list was asked for: the list proves nothing of a request
    that left since. Nor is one touched that is settled by now.
    """
    effect = lock_effect(effect_id)
    if effect.state != EffectState.PENDING or effect.sent_at != sent_at:
        return False
    proof = Proof(source=EvidenceSource.ABSENT, status="absent")
    write_move(effect=effect, to_state=EffectState.FAILED, proof=proof, actor=actor, now=now)
    effect.save(update_fields=["state", "move"])
    return True


def lock_effect(effect_id: UUID) -> ToolEffect:
    effect = ToolEffect.objects.select_for_update(no_key=True).filter(pk=effect_id).first()
    if effect is None:
        raise NotFoundError("no-effect", "there is no such effect", place=str(effect_id))
    return effect


def add_references(effect: ToolEffect, seen: OutcomeSeen, *, now: datetime) -> None:
    EffectReference.objects.bulk_create(
        [
            EffectReference(
                effect=effect, processor=effect.processor, kind=kind, reference=reference[:255], seen_at=now
            )
            for kind, reference in seen.references
        ],
        ignore_conflicts=True,
    )


def write_contradiction(
    effect: ToolEffect, kind: ContradictionKind, seen: "OutcomeSeen | None", *, now: datetime, **said: object
) -> None:
    """Keep what cannot be expressed, once; `said` stands in where there is no outcome to quote."""
    facts: dict[str, object] = {"processor": effect.processor, **said}
    if seen is not None:
        facts |= {
            "reference": seen.reference[:255],
            "status": seen.status[:64],
            "amount_minor": seen.amount_minor,
            "currency": seen.currency,
            "source": seen.source,
            "occurred_at": seen.occurred_at,
        }
    Contradiction.objects.bulk_create(
        [Contradiction(effect=effect, kind=kind, seen_at=now, **facts)], ignore_conflicts=True
    )


def _judge(effect: ToolEffect, seen: OutcomeSeen) -> list[ContradictionKind]:
    """Name what the evidence says and no move can express."""
    is_settled = effect.state in (EffectState.APPLIED, EffectState.COMPENSATED)
    is_other = is_settled and not _is_same_operation(effect, seen)
    if seen.outcome == EffectState.APPLIED and is_other:
        return [ContradictionKind.SECOND_CHARGE]
    if seen.outcome == EffectState.FAILED and is_settled and not is_other:
        # A tool's refund that fails later is answered by the money's return: see _take_outcome.
        if effect.operation == "refund" or _is_older_word(effect, seen):
            return []
        return [ContradictionKind.FAILED_AFTER_APPLIED]
    return []


def _is_older_word(effect: ToolEffect, seen: OutcomeSeen) -> bool:
    """Whether it is an event of before the success: an attempt that was declined first, heard of late.

    Only an event's time says when it was so; an object's says when the object was made.
    """
    is_event = seen.source in (EvidenceSource.WEBHOOK, EvidenceSource.EVENTS)
    when, settled_at = seen.occurred_at, effect.settled_at
    return is_event and when is not None and settled_at is not None and when < settled_at


def _is_same_operation(effect: ToolEffect, seen: OutcomeSeen) -> bool:
    """Whether the evidence is about what settled the effect: one intent owns its charges, two are two."""
    if seen.reference == effect.external_ref:
        return True
    said = {reference for kind, reference in seen.references if kind != ReferenceKind.TARGET}
    if effect.external_ref in said:
        return True
    if seen.outcome == EffectState.FAILED:
        return False
    moved = effect.moves.exclude(evidence_ref="").values_list("evidence_ref", flat=True)
    return bool(said & set(moved))


def _is_new(effect: ToolEffect, seen: OutcomeSeen) -> bool:
    if seen.outcome == EffectState.APPLIED:
        return effect.state in (EffectState.PENDING, EffectState.FAILED)
    if seen.outcome == EffectState.FAILED:
        is_returned = effect.operation == "refund" and effect.state == EffectState.APPLIED
        return effect.state == EffectState.PENDING or (is_returned and _is_same_operation(effect, seen))
    return False


def _return_heard_first(effect: ToolEffect, seen: OutcomeSeen) -> EffectMove | None:
    """Return the move that a tool's refund failed by, where this is the older word that it had gone out.

    A refund that failed does not succeed any more: by the same id, the success came before.
    """
    if effect.operation != "refund" or effect.state != EffectState.FAILED:
        return None
    if seen.outcome != EffectState.APPLIED:
        return None
    last = effect.moves.order_by("-number").first()
    return last if last is not None and last.evidence_ref == seen.reference else None


def _take_return(effect: ToolEffect, returned: EffectMove, *, actor: Actor, now: datetime) -> None:
    effect.compensated_by = returned.evidence_ref
    proof = Proof(
        source=EvidenceSource(returned.source),
        reference=returned.evidence_ref,
        status=returned.evidence_status,
        amount_minor=returned.evidence_amount_minor,
        occurred_at=returned.evidence_at,
        raw_id=returned.raw_id,
    )
    write_move(effect=effect, to_state=EffectState.COMPENSATED, proof=proof, actor=actor, now=now)
    effect.save(update_fields=["state", "move", "compensated_by"])


def _take_outcome(effect: ToolEffect, seen: OutcomeSeen, *, actor: Actor, now: datetime) -> None:
    to_state = seen.outcome
    if to_state == EffectState.FAILED and effect.state == EffectState.APPLIED:
        to_state = EffectState.COMPENSATED
        effect.compensated_by = seen.reference
    if to_state == EffectState.APPLIED:
        _take_money(effect, seen, now=now)
        effect.external_ref = seen.reference
        effect.settled_at = seen.occurred_at or now
    proof = Proof(
        source=seen.source,
        reference=seen.reference,
        status=seen.status,
        amount_minor=seen.amount_minor,
        occurred_at=seen.occurred_at,
        raw_id=seen.raw_id,
    )
    write_move(effect=effect, to_state=to_state, proof=proof, actor=actor, now=now)
    effect.save(
        update_fields=[
            "state",
            "move",
            "external_ref",
            "settled_at",
            "amount_settled_minor",
            "currency",
            "compensated_by",
        ]
    )


def _take_money(effect: ToolEffect, seen: OutcomeSeen, *, now: datetime) -> None:
    """Write what was moved; nothing where the currency is another, as the amounts do not compare."""
    if effect.currency and seen.currency and seen.currency != effect.currency:
        write_contradiction(effect, ContradictionKind.OTHER_CURRENCY, seen, now=now)
        return
    effect.currency = effect.currency or seen.currency
    if effect.currency:
        effect.amount_settled_minor = seen.amount_minor
