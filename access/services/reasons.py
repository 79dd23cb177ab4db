"""The stated reason: once per conversation and period, for roles that need one."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from uuid_utils.compat import uuid7

from access.actors import Actor, ActorKind
from access.models.log import AccessAction, StatedReason, TargetKind
from access.reading import as_application
from access.services.logging import log_access


@transaction.atomic
def state_reason(
    *,
    user: User,
    conversation_id: UUID,
    ticket: str,
    words: str,
    now: datetime,
    address: str | None = None,
) -> StatedReason:
    """Write down why, and open the conversation to this user for the configured period."""
    reason = StatedReason.objects.create(
        id=UUID(int=uuid7().int),
        user=user,
        conversation_id=conversation_id,
        ticket=ticket,
        words=words,
        stated_at=now,
        valid_until=now + timedelta(hours=settings.STATED_REASON_HOURS),
    )
    log_access(
        actor=Actor(ActorKind.STAFF, str(user.pk)),
        action=AccessAction.STATE_REASON,
        target_kind=TargetKind.CONVERSATION,
        target_id=str(conversation_id),
        conversation_id=conversation_id,
        reason_id=reason.pk,
        now=now,
        address=address,
    )
    return reason


def valid_reason(*, user: User, conversation_id: UUID, now: datetime) -> StatedReason | None:
    """Return the user's reason that still holds for this conversation, the latest if there are several."""
    found = StatedReason.objects.filter(user=user, conversation_id=conversation_id, valid_until__gt=now)
    with as_application():
        return found.order_by("-valid_until").first()


@transaction.atomic
def close_reasons(*, user: User, conversation_id: UUID, now: datetime, address: str | None = None) -> None:
    """End the user's reasons for this conversation now; the next opening asks again."""
    open_reasons = StatedReason.objects.filter(
        user=user, conversation_id=conversation_id, valid_until__gt=now
    )
    if open_reasons.update(valid_until=now):
        log_access(
            actor=Actor(ActorKind.STAFF, str(user.pk)),
            action=AccessAction.CLOSE,
            target_kind=TargetKind.CONVERSATION,
            target_id=str(conversation_id),
            conversation_id=conversation_id,
            now=now,
            address=address,
        )
