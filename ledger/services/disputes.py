"""Disputes: a customer contests a charge with their bank. An open one holds what it touches."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from conversations.ids import mint_id
from conversations.models import Conversation
from ledger.evidence import DisputeSeen
from ledger.models import Dispute, ToolEffect
from ledger.services.settling import lock_effect


@transaction.atomic
def take_dispute(*, effect_id: UUID, seen: DisputeSeen, now: datetime) -> Dispute:
    """Write the newest state of a dispute; an older one than is known changes nothing.

    An open dispute is a hold, so it locks as one: the effect's conversation, if it is still there, then
    the effect. A purge that has the conversation is waited for; one that comes later leaves it alone.
    """
    _lock_conversation_of(effect_id)
    effect = lock_effect(effect_id)
    dispute = (
        Dispute.objects.select_for_update()
        .filter(processor=seen.processor, external_ref=seen.reference)
        .first()
    )
    seen_at = seen.occurred_at or now
    if dispute is not None and not _is_newer(dispute, seen, seen_at):
        return dispute
    if dispute is None:
        dispute = Dispute(id=mint_id(now), processor=seen.processor, external_ref=seen.reference)
        dispute.opened_at, dispute.known_at = seen.opened_at, now
    dispute.effect = effect
    dispute.charge_ref = seen.charge_ref
    dispute.status, dispute.reason = seen.status[:64], seen.reason[:64]
    dispute.amount_minor, dispute.currency = seen.amount_minor or 0, seen.currency
    dispute.seen_at = seen_at
    dispute.closed_at = None if seen.is_open else seen_at
    # When we hear of it, which is not when it was so: a run reads what was known at its cut-off.
    dispute.known_at = max(now, dispute.known_at)
    dispute.save()
    return dispute


def _lock_conversation_of(effect_id: UUID) -> None:
    conversation = ToolEffect.objects.filter(pk=effect_id).values("conversation_id")
    # list() runs the query: an unevaluated select_for_update locks nothing.
    list(Conversation.objects.select_for_update(no_key=True).filter(pk__in=conversation).values_list("pk"))


def _is_newer(dispute: Dispute, seen: DisputeSeen, seen_at: datetime) -> bool:
    """By the processor's time; within one second, a decision comes after what it decides."""
    if seen_at != dispute.seen_at:
        return seen_at > dispute.seen_at
    return dispute.closed_at is None
