"""What a run that is done again reads of effects that lost their call since the first time.

Once a conversation is gone, nothing tells how its branches stood at an earlier moment: the effect keeps
how it stood when it was let go. The run that is repeated had still read the tree, and keeps what it saw.
"""

from collections.abc import Iterator
from uuid import UUID

from ledger.models import Sighting, ToolEffect
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.vocabulary import FindingKind


def detached_since(context: RunContext) -> set[UUID]:
    """Return the effects that have let go of their call since the repeated run was asked for."""
    run = context.run
    if run.repeats is None:
        return set()
    gone = ToolEffect.objects.filter(
        realm_id=run.realm_id, processor=run.processor, detached_at__gte=run.repeats.requested_at
    )
    return set(gone.values_list("pk", flat=True))


def abandoned_then(context: RunContext, ids: list[UUID]) -> list[UUID]:
    """Return the abandoned effects, those that were let go since as the repeated run saw them."""
    gone = detached_since(context)
    seen = {one.effect_id for one in _seen(context, FindingKind.ABANDONED)} if gone else set()
    return sorted((set(ids) - gone) | (gone & seen))


def duplicates_then(context: RunContext, found: dict[UUID, list[UUID]]) -> dict[UUID, list[UUID]]:
    """Return the duplicates, those with an effect that was let go since as the repeated run saw them."""
    gone = {str(pk) for pk in detached_since(context)}
    if not gone:
        return found
    kept = {
        one.effect_id: [UUID(earlier) for earlier in one.facts.get("of", [])]
        for one in _seen(context, FindingKind.DUPLICATE)
        if one.effect_id is not None and gone & {str(one.effect_id), *one.facts.get("of", [])}
    }
    return found | kept


def _seen(context: RunContext, kind: FindingKind) -> Iterator[Sighting]:
    return Sighting.objects.filter(run_id=context.run.repeats_id, kind=kind).iterator()
