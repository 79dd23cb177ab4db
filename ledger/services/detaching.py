"""Effects outlive their conversation: before it goes, they let go of it and keep what stood."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F

from conversations.errors import ConflictError
from ledger.arrays import among_numbers
from ledger.models import ToolEffect
from ledger.querysets import standings
from ledger.vocabulary import EffectState


@transaction.atomic
def detach_effects(*, conversation_id: UUID, now: datetime, seqs: Collection[int] | None = None) -> int:
    """Cut the conversation's effects (or those of the messages named) from their calls; return how many.

    Call id, number of the message and standing stay on the row. The caller holds the
    conversation's lock. Raises ConflictError while one is open: what nobody knows
    the outcome of may not lose its story.
    """
    attached = ToolEffect.objects.select_for_update(no_key=True).filter(
        conversation_id=conversation_id, call_seq__isnull=False
    )
    if seqs is not None:
        attached = attached.filter(among_numbers("call_seq", seqs))
    effects = list(attached.order_by("pk"))
    still_open = [effect for effect in effects if effect.state == EffectState.PENDING]
    if still_open:
        raise ConflictError(
            "effect-open",
            f"{len(still_open)} effects are open; the sweeper or the processor has to settle them first",
            place=f"conversation {conversation_id}, effect {still_open[0].pk}",
        )
    found = standings(effects)
    for effect in effects:
        ToolEffect.objects.filter(pk=effect.pk).update(
            detached_at=now,
            detached_seq=F("call_seq"),
            detached_standing=found[effect.pk],
            call_seq=None,
        )
    return len(effects)
