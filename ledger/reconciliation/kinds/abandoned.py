"""Applied effects that no call on the live path has made or used, as the head stood at the cut-off."""

from ledger.reconciliation.as_of import EffectAsOf, effects_as_of, given_back, in_batches
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.detached import abandoned_then
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.standing import abandoned_as_of
from ledger.reconciliation.vocabulary import FindingKind


def find(context: RunContext) -> list[Seen]:
    """Return each with what of its amount was not given back."""
    run = context.run
    found = abandoned_as_of(realm_id=run.realm_id, processor=run.processor, as_of=context.as_of)
    ids = abandoned_then(context, found)
    seen: list[Seen] = []
    for batch in in_batches(ids):
        effects = effects_as_of(batch, as_of=context.as_of)
        back = given_back(effects, as_of=context.as_of)
        seen += [_seen(effect, back.get(effect.id, 0)) for effect in effects.values()]
    return seen


def _seen(effect: EffectAsOf, back: int) -> Seen:
    return Seen(
        kind=FindingKind.ABANDONED,
        subject=str(effect.id),
        occurred_at=effect.settled_at or effect.requested_at,
        effect_id=effect.id,
        reference=effect.external_ref,
        currency=effect.currency,
        amount_minor=effect.settled_minor - back,
        facts={"settled": effect.settled_minor, "given_back": back, "operation": effect.operation},
    )
