"""An effect without an answer that a movement could be: a suggestion, for a person to confirm."""

from datetime import timedelta
from uuid import UUID

from ledger.arrays import among_filled, among_ids
from ledger.models import StatementLine, ToolEffect
from ledger.reconciliation.as_of import EffectAsOf, effects_as_of
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.knowing import Known
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.standing import pending_as_of
from ledger.vocabulary import Operation

# A suggestion is no further from its movement than this.
NEAR = timedelta(hours=24)


def suggest(context: RunContext, known: Known, movement: Movement) -> EffectAsOf | None:
    """Return an effect without an answer that this could be: same amount, near in time, same customer.

    None where two are equally near: a guess is no suggestion.
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
    nearest = min(abs(effect.requested_at - movement.occurred_at) for effect in near)
    best, *others = [effect for effect in near if abs(effect.requested_at - movement.occurred_at) == nearest]
    if others:
        return None
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
    keys = dict(ToolEffect.objects.filter(among_ids("id", ids)).values_list("idempotency_key", "pk"))
    keyed = StatementLine.objects.filter(among_filled("key_mark", keys), statement_id__in=context.positions)
    taken |= {keys[key] for key in keyed.values_list("key_mark", flat=True)}
    free = [effect_id for effect_id in ids if effect_id not in taken]
    return [
        effect
        for effect in effects_as_of(free, as_of=context.as_of).values()
        if effect.operation == Operation.CHARGE and not effect.references
    ]
