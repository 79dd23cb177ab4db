"""What the processor says and no move of a state can express; above all, two charges under one key."""

from itertools import batched

from ledger.models import Contradiction
from ledger.reconciliation.as_of import EffectAsOf, effects_as_of
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.vocabulary import FindingKind
from ledger.vocabulary import ContradictionKind

_AT_ONCE = 2000


def second_charge(movement: Movement, effect: EffectAsOf) -> Seen:
    """Name a charge beside the one that the effect is; a webhook may have told of it already."""
    return Seen(
        kind=FindingKind.CONTRADICTION,
        subject=f"{ContradictionKind.SECOND_CHARGE}:{movement.reference}",
        occurred_at=movement.occurred_at,
        effect_id=effect.id,
        reference=movement.reference,
        currency=movement.currency,
        amount_minor=movement.moved_minor,
        facts={
            "contradiction": ContradictionKind.SECOND_CHARGE.value,
            "beside": effect.external_ref,
            "statement": True,
        },
    )


def find(context: RunContext) -> list[Seen]:
    """Return what the ledger has kept until the cut-off; it stays a finding until a person resolves it."""
    run = context.run
    kept = list(
        Contradiction.objects.filter(
            context.as_of.known("seen_at"), effect__realm_id=run.realm_id, processor=run.processor
        ).order_by("id")
    )
    seen: list[Seen] = []
    for batch in batched(kept, _AT_ONCE):
        effects = effects_as_of({one.effect_id for one in batch}, as_of=context.as_of)
        seen += [_seen(one, effects.get(one.effect_id)) for one in batch]
    return seen


def _seen(one: Contradiction, effect: EffectAsOf | None) -> Seen:
    is_second = one.kind == ContradictionKind.SECOND_CHARGE and one.reference
    subject = f"{one.kind}:{one.reference}" if is_second else f"{one.kind}:{one.effect_id}:{one.reference}"
    return Seen(
        kind=FindingKind.CONTRADICTION,
        subject=subject[:255],
        occurred_at=one.occurred_at or one.seen_at,
        effect_id=one.effect_id,
        reference=one.reference,
        currency=one.currency,
        amount_minor=one.amount_minor,
        facts={"contradiction": one.kind, "beside": effect.external_ref if effect else ""},
    )
