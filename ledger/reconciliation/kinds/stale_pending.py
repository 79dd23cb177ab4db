"""Effects that left, or were to leave, and have had no answer for longer than the policy allows.

One that a statement shows is no longer unknown: it is a state that differs. One that a
movement is suggested to be waits for that person's word.
"""

from ledger.reconciliation.as_of import effects_as_of, in_batches
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.standing import pending_as_of
from ledger.reconciliation.vocabulary import FindingKind


def find(context: RunContext) -> list[Seen]:
    run = context.run
    late = run.cut_off - context.waiting.for_an_answer
    ids = pending_as_of(realm_id=run.realm_id, processor=run.processor, before=late, as_of=context.as_of)
    seen: list[Seen] = []
    for batch in in_batches(ids):
        shown = set(run.rows.filter(effect_id__in=batch).values_list("effect_id", flat=True))
        for effect in effects_as_of(batch, as_of=context.as_of).values():
            if effect.id in shown:
                continue
            seen.append(
                Seen(
                    kind=FindingKind.STALE_PENDING,
                    subject=str(effect.id),
                    occurred_at=effect.sent_at or effect.requested_at,
                    effect_id=effect.id,
                    reference=next(iter(effect.references), ""),
                    currency=effect.currency,
                    amount_minor=effect.amount_minor,
                    facts={"was_sent": effect.sent_at is not None},
                )
            )
    return seen


def count_waiting(context: RunContext) -> int:
    """Return how many have no answer and are not late yet."""
    run = context.run
    late = run.cut_off - context.waiting.for_an_answer
    every, late_ones = (
        pending_as_of(realm_id=run.realm_id, processor=run.processor, before=before, as_of=context.as_of)
        for before in (run.cut_off, late)
    )
    return len(every) - len(late_ones)
