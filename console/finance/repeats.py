"""Calls of one conversation that asked for the same: how far apart, and what was known of the first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Min

from ledger.models import EffectMove, ToolEffect
from ledger.querysets import probable_duplicates
from ledger.vocabulary import EvidenceSource


@dataclass(frozen=True, slots=True)
class Repeat:
    """Another effect for the same request.

    `was_unknown`: when the second began, the first had left, and nobody knew how it had ended.
    """

    effect: ToolEffect
    gap: timedelta
    is_earlier: bool
    was_unknown: bool


def repeats_of(effect: ToolEffect, *, most: int) -> list[Repeat]:
    """Return the effects that repeat this one or are repeated by it; a query more where there are any."""
    others = list(probable_duplicates(effect)[:most])
    if not others:
        return []
    known_at = _outcomes_known_at([effect, *others])
    return [_repeat(effect, other, known_at) for other in others]


def _repeat(effect: ToolEffect, other: ToolEffect, known_at: dict[UUID, datetime]) -> Repeat:
    first, second = sorted((effect, other), key=lambda one: (one.requested_at, one.pk))
    outcome = known_at.get(first.pk)
    return Repeat(
        effect=other,
        gap=second.requested_at - first.requested_at,
        is_earlier=other == first,
        was_unknown=first.sent_at is not None and (outcome is None or outcome > second.requested_at),
    )


def _outcomes_known_at(effects: Sequence[ToolEffect]) -> dict[UUID, datetime]:
    outcomes = EffectMove.objects.filter(effect__in=effects).exclude(source=EvidenceSource.BEGIN)
    return dict(outcomes.values_list("effect_id").annotate(Min("moved_at")))
