"""Writing a move of an effect's state: the line in its history and the state, together.

The caller holds the effect's lock. The database refuses a move that is not legal, one
without evidence, and a state without its line.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from access.actors import Actor
from ledger.models import EffectMove, ToolEffect
from ledger.vocabulary import EffectState, EvidenceSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Why a state moves: what was seen, where, and the processor's own time."""

    source: EvidenceSource
    reference: str = ""
    status: str = ""
    amount_minor: int | None = None
    occurred_at: datetime | None = None
    raw_id: UUID | None = None


def write_move(
    *, effect: ToolEffect, to_state: EffectState, proof: Proof, actor: Actor, now: datetime
) -> EffectMove:
    """Append the line and set the effect's state; the caller saves the effect."""
    is_first = effect.state == ""
    move = EffectMove(
        effect_id=effect.pk,
        number=1 if is_first else effect.move + 1,
        from_state=effect.state,
        to_state=to_state,
        moved_at=now,
        moved_by_kind=actor.kind,
        moved_by_id=actor.id[:64],
        source=proof.source,
        evidence_ref=proof.reference[:255],
        evidence_status=proof.status[:64],
        evidence_amount_minor=proof.amount_minor,
        evidence_at=proof.occurred_at,
        raw_id=proof.raw_id,
    )
    move.save(force_insert=True)
    effect.state, effect.move = to_state, move.number
    return move
