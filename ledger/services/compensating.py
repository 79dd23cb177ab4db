"""Giving money back: asked for by one person, approved by another, never more than was taken.

Both lock the effect and count under that lock; the database holds both rules as well. The
request's amount is reserved from the moment it is asked for. Sending is a worker's: see
`refunding`.
"""

import hashlib
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from access.actors import Actor, ActorKind
from conversations.currency import major_text, step
from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.ids import mint_id
from ledger.models import Compensation, CompensationNote, ToolEffect
from ledger.services.recounting import recount
from ledger.services.settling import lock_effect
from ledger.vocabulary import (
    CompensationOrigin,
    CompensationReason,
    CompensationState,
    EffectState,
    Operation,
)


@transaction.atomic
def request_compensation(
    *,
    effect_id: UUID,
    amount_minor: int,
    reason: CompensationReason,
    user: User,
    now: datetime,
    note: str = "",
) -> Compensation:
    """Ask for a refund of a part or of all that is left; it is reserved until it is decided or done.

    Raises ConflictError where the effect has no settled charge, or less is left; StoreError for a part
    that the processor does not move in this currency, such as 0.50 ISK or 1.234 KWD.
    """
    effect = lock_effect(effect_id)
    place = f"effect {effect_id}"
    if effect.operation != Operation.CHARGE or effect.state != EffectState.APPLIED:
        raise ConflictError(
            "nothing-to-give-back",
            f"only a charge that is applied can be refunded; this {effect.operation} is {effect.state}",
            place=place,
        )
    if amount_minor <= 0:
        raise StoreError("amount-not-positive", "a refund is of more than nothing", place=place)
    left = left_of(effect)
    if amount_minor > left:
        raise ConflictError(
            "more-than-is-left",
            f"{amount_minor} {effect.currency} were asked for, {left} are left",
            place=place,
        )
    multiple = step(effect.currency)
    if amount_minor % multiple and amount_minor != left:
        raise StoreError(
            "amount-not-payable",
            f"the processor moves {effect.currency.upper()} in steps of"
            f" {major_text(multiple, effect.currency)}: {major_text(amount_minor, effect.currency)} is none",
            place=place,
        )
    compensation_id = mint_id(now)
    compensation = Compensation.objects.create(
        id=compensation_id,
        effect=effect,
        origin=CompensationOrigin.COUNTERFOIL,
        state=CompensationState.REQUESTED,
        amount_minor=amount_minor,
        currency=effect.currency,
        reason=reason,
        idempotency_key=_key(effect, compensation_id),
        requested_by=user,
        requested_at=now,
        known_at=now,
    )
    _write_note(compensation, user, note, now)
    recount(effect=effect, actor=_actor(user), now=now)
    return compensation


@transaction.atomic
def approve_compensation(*, compensation_id: UUID, user: User, now: datetime, note: str = "") -> Compensation:
    """Approve what another person asked for; a worker sends it. Raises ConflictError if it is decided."""
    compensation = _undecided(compensation_id)
    if compensation.requested_by_id == user.pk:
        raise StoreError(
            "same-person",
            "who asked for a refund cannot approve it; another person has to",
            place=f"compensation {compensation_id}",
        )
    return _decide(compensation, CompensationState.APPROVED, user=user, now=now, note=note)


@transaction.atomic
def reject_compensation(*, compensation_id: UUID, user: User, now: datetime, note: str = "") -> Compensation:
    """Refuse what another person asked for; what it had reserved is free again."""
    compensation = _undecided(compensation_id)
    if compensation.requested_by_id == user.pk:
        raise StoreError(
            "same-person",
            "who asked for a refund cannot decide on it; another person has to",
            place=f"compensation {compensation_id}",
        )
    return _decide(compensation, CompensationState.REJECTED, user=user, now=now, note=note)


def left_of(effect: ToolEffect) -> int:
    """Return what can still be given back: settled, less what is given back, less what is reserved."""
    settled = effect.amount_settled_minor or 0
    return max(settled - effect.amount_compensated_minor - effect.amount_reserved_minor, 0)


def lock_compensation(compensation_id: UUID) -> Compensation:
    """Lock a compensation's effect, then the compensation, and return it as it is under both locks."""
    effect_id = Compensation.objects.values_list("effect_id", flat=True).filter(pk=compensation_id).first()
    if effect_id is None:
        raise NotFoundError("no-compensation", "there is no such compensation", place=str(compensation_id))
    effect = lock_effect(effect_id)
    compensation = Compensation.objects.select_for_update(no_key=True).get(pk=compensation_id)
    compensation.effect = effect
    return compensation


def _undecided(compensation_id: UUID) -> Compensation:
    compensation = lock_compensation(compensation_id)
    if compensation.state != CompensationState.REQUESTED:
        raise ConflictError(
            "decided-already",
            f"the request is {compensation.state} already",
            place=f"compensation {compensation_id}",
        )
    return compensation


def _decide(
    compensation: Compensation, state: CompensationState, *, user: User, now: datetime, note: str
) -> Compensation:
    compensation.state, compensation.decided_by, compensation.decided_at = state, user, now
    compensation.known_at = max(now, compensation.known_at)
    compensation.save(update_fields=["state", "decided_by", "decided_at", "known_at"])
    _write_note(compensation, user, note, now)
    recount(effect=compensation.effect, actor=_actor(user), now=now)
    return compensation


def _key(effect: ToolEffect, compensation_id: UUID) -> str:
    facts = f"{effect.realm_id}:{effect.pk}:{compensation_id}"
    return f"cf1_comp_{hashlib.sha256(facts.encode()).hexdigest()}"


def _write_note(compensation: Compensation, user: User, note: str, now: datetime) -> None:
    if note.strip():
        CompensationNote.objects.create(compensation=compensation, author=user, text=note, written_at=now)


def _actor(user: User) -> Actor:
    return Actor(ActorKind.STAFF, str(user.pk))
