"""A person brings archived bytes back into their rows, to search or to work on them."""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from access.actors import Actor, ActorKind
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.errors import NotFoundError
from conversations.models import Conversation
from retention.archiving import archived_among, return_bytes
from retention.locks import lock_accounts, lock_conversations
from retention.models import ArchiveReturn


@transaction.atomic
def bring_back(*, conversation_id: UUID, user: User, now: datetime, address: str | None = None) -> int:
    """Put a conversation's archived bytes back; return how many parts have theirs again.

    A hold does not stand against it: nothing is lost. The archive leaves the conversation alone for
    a while then. Raises ArchiveError where the file cannot be opened, NotFoundError without one.
    """
    found = Conversation.objects.values_list("account_id", "account__realm_id")
    account_id, realm_id = found.get(pk=conversation_id)
    lock_accounts([account_id])
    lock_conversations([conversation_id], waits=True)
    if not archived_among([conversation_id]):
        raise NotFoundError(
            "not-archived", "nothing of it is in the archive", place=f"conversation {conversation_id}"
        )
    returned = return_bytes(conversation_id=conversation_id)
    ArchiveReturn.objects.update_or_create(
        conversation_id=conversation_id, defaults={"returned_at": now, "returned_by": user}
    )
    log_access(
        actor=Actor(ActorKind.STAFF, str(user.pk)),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.CONVERSATION,
        target_id=str(conversation_id),
        realm_id=realm_id,
        account_id=account_id,
        conversation_id=conversation_id,
        row_count=returned,
        now=now,
        address=address,
    )
    return returned
