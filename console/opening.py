"""Whether somebody may read what was said in a conversation, on which ground, and the record of it."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User

from access.actors import Actor
from access.models.log import AccessAction, StatedReason, TargetKind
from access.permissions import holds
from access.rights import RightName
from access.services.logging import log_access
from access.services.reasons import valid_reason
from conversations.models import Conversation


@dataclass(frozen=True, slots=True)
class Opening:
    """`may_state` says that stating a reason would open it; `sees_raw` that payloads are shown too."""

    is_open: bool
    may_state: bool
    sees_raw: bool
    reason: StatedReason | None = None


def opening_for(*, user: User, conversation: Conversation, now: datetime) -> Opening:
    """Return what `user` may read of the conversation now; one query where a reason is needed."""
    sees_raw = holds(user, RightName.READ_RAW)
    if holds(user, RightName.READ_BODIES_FREELY):
        return Opening(is_open=True, may_state=False, sees_raw=sees_raw)
    if not holds(user, RightName.READ_BODIES):
        return Opening(is_open=False, may_state=False, sees_raw=False)
    reason = valid_reason(user=user, conversation_id=conversation.pk, now=now)
    is_open = reason is not None
    return Opening(is_open=is_open, may_state=not is_open, sees_raw=sees_raw and is_open, reason=reason)


def log_opening(
    *,
    opening: Opening,
    actor: Actor,
    conversation: Conversation,
    now: datetime,
    address: str | None,
    action: AccessAction = AccessAction.OPEN,
    target_kind: TargetKind | None = None,
    target_id: str = "",
) -> None:
    """Write who read what. Without an open body, it was the page alone: structure, times and money."""
    kind = TargetKind.CONVERSATION if opening.is_open else TargetKind.PAGE
    log_access(
        actor=actor,
        action=action,
        target_kind=target_kind or kind,
        target_id=target_id or str(conversation.pk),
        realm_id=conversation.account.realm_id,
        conversation_id=conversation.pk,
        account_id=conversation.account_id,
        reason_id=opening.reason.pk if opening.reason else None,
        now=now,
        address=address,
    )
