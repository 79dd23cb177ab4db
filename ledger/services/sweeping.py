"""The sweeper: looks at the processor's books and settles what it finds there. It never sends.

An effect is absent only when a consistent list over the whole time in which its key could act
was read to the end after that time and an hour; until then, and wherever the processor
cannot say, the outcome stays unknown and is shown as such.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from access.actors import Actor
from ledger.evidence import Found
from ledger.models import ToolEffect
from ledger.processors import adapter_for, key_life
from ledger.processors.protocol import ProcessorUnreachableError, Sought
from ledger.services.events import work_waiting_for
from ledger.services.sending import refuse_inside_transaction
from ledger.services.settling import settle_absent, settle_effect
from ledger.vocabulary import EffectState, Operation

# Younger ones may still be in their caller's hands.
YOUNGEST = timedelta(minutes=2)
# The processor's clock and ours may differ by this.
MARGIN = timedelta(hours=1)
# How often is looked, by age: soon after the call a person waits for it.
_EVERY = (
    (timedelta(hours=1), timedelta(minutes=2)),
    (timedelta(hours=30), timedelta(minutes=30)),
    (timedelta(days=365), timedelta(hours=6)),
)


def due(*, now: datetime) -> QuerySet[ToolEffect]:
    """Return open effects to look at: sent ones soon, never sent ones once their day is over."""
    looked = Q(looked_at=None)
    for age, pause in _EVERY:
        looked |= Q(requested_at__gt=now - age, looked_at__lte=now - pause)
    sent = Q(sent_at__lte=now - YOUNGEST)
    forgotten = Q(sent_at=None, requested_at__lte=now - timedelta(hours=25))
    return (
        ToolEffect.objects.filter(state=EffectState.PENDING)
        .filter(sent | forgotten)
        .filter(looked)
        .order_by("requested_at", "id")
    )


def look(*, effect_id: UUID, actor: Actor, now: datetime) -> str:
    """Ask the processor what became of an effect and settle it; return what was found, in a word.

    Must not run inside a transaction. Safe to run twice at once.
    """
    refuse_inside_transaction(place=f"effect {effect_id}")
    effect = ToolEffect.objects.get(pk=effect_id)
    if effect.state != EffectState.PENDING:
        return "settled_already"
    ToolEffect.objects.filter(pk=effect_id).update(looked_at=now)
    adapter = adapter_for(effect.processor)
    if adapter is None:
        return "no_adapter"
    try:
        found = adapter.find(_sought(effect, now=now))
    except ProcessorUnreachableError:
        return "unreachable"
    return _settle(effect, found, actor=actor, now=now)


def _settle(effect: ToolEffect, found: Found, *, actor: Actor, now: datetime) -> str:
    if found.is_absent:
        is_settled = settle_absent(effect_id=effect.pk, sent_at=effect.sent_at, actor=actor, now=now)
        return "absent" if is_settled else "moved_on"
    if not found.seen:
        return "unknown"
    for seen in found.seen:
        effect = settle_effect(effect_id=effect.pk, seen=seen, actor=actor, now=now).effect
        for _, reference in seen.references:
            work_waiting_for(reference=reference, now=now)
    return str(effect.state)


def _sought(effect: ToolEffect, *, now: datetime) -> Sought:
    left_at = effect.sent_at or effect.requested_at
    return Sought(
        effect_id=effect.pk,
        operation=Operation(effect.operation),
        idempotency_key=effect.idempotency_key,
        references=[(reference.kind, reference.reference) for reference in effect.references.order_by("id")],
        customer=str(effect.find_by.get("customer", "")),
        since=left_at - MARGIN,
        until=left_at + key_life(effect.processor) + MARGIN,
        now=now,
    )
