"""An effect's sums, from its compensations; and the move that a complete or a lost refund brings.

The caller holds the effect's lock and is inside a transaction.
"""

from datetime import datetime

from django.db.models import Q, Sum

from access.actors import Actor
from ledger.models import Compensation, Contradiction, ToolEffect
from ledger.services.moves import Proof, write_move
from ledger.vocabulary import (
    CompensationOrigin,
    CompensationState,
    ContradictionKind,
    EffectState,
    EvidenceSource,
)

_CLAIMING = [CompensationState.REQUESTED, CompensationState.APPROVED, CompensationState.SENT]


def recount(
    *,
    effect: ToolEffect,
    actor: Actor,
    now: datetime,
    source: EvidenceSource = EvidenceSource.LIST,
    by: Compensation | None = None,
) -> None:
    """Set the sums anew; `compensated` only when the whole is given back, `applied` again when it is not.

    `by` is the compensation whose news brought us here, the evidence of the move.
    A tool's own refund has no compensations: its state is left alone.
    """
    sums = Compensation.objects.filter(effect=effect).aggregate(
        settled=Sum("amount_minor", filter=Q(state=CompensationState.SETTLED)),
        reserved=Sum("amount_minor", filter=Q(state__in=_CLAIMING, origin=CompensationOrigin.COUNTERFOIL)),
    )
    settled, reserved = sums["settled"] or 0, sums["reserved"] or 0
    effect.amount_compensated_minor, effect.amount_reserved_minor = settled, reserved
    whole = effect.amount_settled_minor
    if whole is not None and settled > whole:
        _write_excess(effect, settled - whole, by=by, source=source, now=now)
    is_whole = whole is not None and 0 < whole <= settled
    if effect.state == EffectState.APPLIED and is_whole:
        completing = by or _latest(effect)
        effect.compensated_by = completing.external_ref
        _move(effect, EffectState.COMPENSATED, completing, source=source, actor=actor, now=now)
    elif effect.state == EffectState.COMPENSATED and not is_whole and effect.operation != "refund":
        effect.compensated_by = ""
        lost = by or _latest(effect)
        _move(effect, EffectState.APPLIED, lost, source=source, actor=actor, now=now)
    effect.save(
        update_fields=[
            "amount_compensated_minor",
            "amount_reserved_minor",
            "compensated_by",
            "state",
            "move",
        ]
    )


def _latest(effect: ToolEffect) -> Compensation:
    return Compensation.objects.filter(effect=effect).exclude(external_ref="").latest("requested_at")


def _move(
    effect: ToolEffect,
    to_state: EffectState,
    compensation: Compensation,
    *,
    source: EvidenceSource,
    actor: Actor,
    now: datetime,
) -> None:
    proof = Proof(
        source=source,
        reference=compensation.external_ref,
        status=compensation.failure_code or str(compensation.state),
        amount_minor=compensation.amount_minor,
        occurred_at=compensation.failed_at or compensation.settled_at,
    )
    write_move(effect=effect, to_state=to_state, proof=proof, actor=actor, now=now)


def _write_excess(
    effect: ToolEffect, excess: int, *, by: Compensation | None, source: EvidenceSource, now: datetime
) -> None:
    Contradiction.objects.bulk_create(
        [
            Contradiction(
                effect=effect,
                kind=ContradictionKind.REFUNDED_PAST_SETTLED,
                processor=effect.processor,
                reference=by.external_ref if by else "",
                amount_minor=excess,
                currency=effect.currency,
                source=source,
                seen_at=now,
            )
        ],
        ignore_conflicts=True,
    )
