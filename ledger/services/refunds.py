"""Refunds as the processor shows them: ours, a tool's, and those made in its dashboard.

A refund has an order of its own: pending, then succeeded, then perhaps failed. A later word is
never undone by an earlier one, so evidence may come in any order and any number of times.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.ids import mint_id
from ledger.evidence import RefundSeen
from ledger.models import Compensation, EffectReference, ToolEffect
from ledger.services.recounting import recount
from ledger.services.settling import lock_effect, write_contradiction
from ledger.vocabulary import (
    CompensationOrigin,
    CompensationState,
    ContradictionKind,
    EffectState,
    ReferenceKind,
)

_STATES = {
    EffectState.PENDING: CompensationState.SENT,
    EffectState.APPLIED: CompensationState.SETTLED,
    EffectState.FAILED: CompensationState.FAILED,
}
_RANK = {CompensationState.SENT: 0, CompensationState.SETTLED: 1, CompensationState.FAILED: 2}


@dataclass(frozen=True, slots=True)
class RefundTaken:
    compensation: Compensation | None
    has_changed: bool


@transaction.atomic
def take_refund(*, effect_id: UUID, seen: RefundSeen, actor: Actor, now: datetime) -> RefundTaken:
    """Write what the processor says of a refund of this effect's charge, and recount the effect.

    Locks the effect. Evidence is never refused: what does not fit is a contradiction.
    """
    effect = lock_effect(effect_id)
    if not _fits(effect, seen, now=now):
        return RefundTaken(None, has_changed=False)
    compensation = _find(effect, seen) or _from_elsewhere(effect, seen, now=now)
    has_changed = _advance(compensation, seen, now=now)
    EffectReference.objects.bulk_create(
        [
            EffectReference(
                effect=effect,
                processor=effect.processor,
                kind=ReferenceKind.REFUND,
                reference=seen.reference,
                seen_at=now,
            )
        ],
        ignore_conflicts=True,
    )
    if has_changed:
        recount(effect=effect, actor=actor, now=now, source=seen.source, by=compensation)
    return RefundTaken(compensation, has_changed)


def _fits(effect: ToolEffect, seen: RefundSeen, *, now: datetime) -> bool:
    """Whether the refund is in the effect's currency; one that is not is kept as a contradiction."""
    if seen.amount_minor is None or seen.amount_minor <= 0:
        return False
    if effect.currency == seen.currency:
        return True
    if not effect.currency and effect.amount_minor is None:
        effect.currency = seen.currency
        effect.save(update_fields=["currency"])
        return True
    write_contradiction(
        effect,
        ContradictionKind.OTHER_CURRENCY,
        None,
        now=now,
        reference=seen.reference,
        status=seen.status,
        amount_minor=seen.amount_minor,
        currency=seen.currency,
        source=seen.source,
        occurred_at=seen.occurred_at,
    )
    return False


def _find(effect: ToolEffect, seen: RefundSeen) -> Compensation | None:
    """By the processor's id; else ours, if it was sent, by what went along with the request."""
    all_of_it = Compensation.objects.select_for_update(no_key=True).filter(effect=effect)
    known = all_of_it.filter(external_ref=seen.reference).first()
    sent = all_of_it.filter(
        external_ref="", amount_minor=seen.amount_minor or 0, state__in=_RANK, sent_at__isnull=False
    )
    if known is None and seen.compensation_id is not None:
        known = sent.filter(pk=seen.compensation_id).first()
    if known is None and seen.idempotency_key:
        known = sent.filter(idempotency_key=seen.idempotency_key).first()
    return known


def _from_elsewhere(effect: ToolEffect, seen: RefundSeen, *, now: datetime) -> Compensation:
    return Compensation(
        id=mint_id(now),
        effect=effect,
        origin=CompensationOrigin.PROCESSOR,
        state=CompensationState.SENT,
        amount_minor=seen.amount_minor or 0,
        currency=seen.currency,
        requested_at=seen.occurred_at or now,
        sent_at=seen.occurred_at or now,
        known_at=now,
    )


def _advance(compensation: Compensation, seen: RefundSeen, *, now: datetime) -> bool:
    """Move the compensation to what was seen, unless it is there already or further on."""
    is_new = compensation.external_ref == ""
    compensation.external_ref = seen.reference
    state = _STATES[seen.outcome]
    # What we gave up ourselves has no word of the processor yet: any of its words is a further one.
    rank = -1 if is_new else _RANK.get(CompensationState(compensation.state), -1)
    when = seen.occurred_at or now
    if _RANK[state] <= rank:
        return _had_settled(compensation, state, when, now=now)
    if state == CompensationState.SETTLED:
        compensation.settled_at = when
    if state == CompensationState.FAILED:
        compensation.failed_at = when
        compensation.failure_code = seen.failure_code or seen.status
    if state != CompensationState.FAILED and is_new:
        compensation.failed_at, compensation.failure_code = None, ""
    compensation.state = state
    compensation.known_at = max(now, compensation.known_at)
    compensation.save()
    return True


def _had_settled(
    compensation: Compensation, state: CompensationState, when: datetime, *, now: datetime
) -> bool:
    """Keep that a refund had gone out before it failed, though it is heard the other way round.

    The customer was told of money that came back; without the moment it would look as if it never left.
    """
    is_late_word = state == CompensationState.SETTLED and compensation.state == CompensationState.FAILED
    if not is_late_word or compensation.settled_at is not None:
        return False
    compensation.settled_at = when
    compensation.known_at = max(now, compensation.known_at)
    compensation.save(update_fields=["settled_at", "known_at"])
    return True
