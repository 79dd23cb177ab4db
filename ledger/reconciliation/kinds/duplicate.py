"""Two charges for the same thing, and both stand: of two branches, or the second of one path made blindly.

The same tool, with the same arguments or below the same branch root. Neither call stands above the
other; or the second asked for the same amount while nobody knew how the first had ended, as after a
timeout. The finding is about the later charge. Equal charges on one path are two purchases where the
first was known.
"""

from ledger.reconciliation.as_of import effects_as_of, in_batches
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.detached import duplicates_then
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.standing import duplicates_as_of
from ledger.reconciliation.vocabulary import FindingKind


def find(context: RunContext) -> list[Seen]:
    run = context.run
    standing = duplicates_as_of(realm_id=run.realm_id, processor=run.processor, as_of=context.as_of)
    found = duplicates_then(context, dict(standing))
    seen: list[Seen] = []
    for batch in in_batches(list(found)):
        for effect in effects_as_of(batch, as_of=context.as_of).values():
            seen.append(
                Seen(
                    kind=FindingKind.DUPLICATE,
                    subject=str(effect.id),
                    occurred_at=effect.settled_at or effect.requested_at,
                    effect_id=effect.id,
                    reference=effect.external_ref,
                    currency=effect.currency,
                    amount_minor=effect.settled_minor,
                    facts={"of": [str(earlier) for earlier in found[effect.id]]},
                )
            )
    return seen
