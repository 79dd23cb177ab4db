"""A conversation begins: a row without messages."""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from conversations.errors import constraint_of, explained
from conversations.ids import mint_id
from conversations.models import Account, Conversation
from conversations.redaction.drafts import cut_words
from conversations.services.erased import refuse_erased
from conversations.vocabulary import ErasedKind, Source
from conversations.wire.literals import readable_copy


@explained(place="a new conversation")
def start_conversation(
    *,
    account_id: UUID,
    now: datetime,
    title: str = "",
    source: Source = Source.APPLICATION,
    external_ref: str = "",
    started_at: datetime | None = None,
    parent_call_id: str = "",
) -> Conversation:
    """Make a conversation, or return the account's one with the same `external_ref`.

    Its id is minted from `started_at` where that is known, so that a range of
    ids is a range of start times. A start that is still to come is taken as now: what is dated
    into the future would outlive its retention. Raises ErasedError for one of a person who was erased.
    """
    if started_at is not None:
        started_at = min(started_at, now)
    if external_ref:
        known = Conversation.objects.filter(account_id=account_id, external_ref=external_ref).first()
        if known is not None:
            return known
        realm_id = Account.objects.values_list("realm_id", flat=True).get(pk=account_id)
        refuse_erased(kind=ErasedKind.EXTERNAL_REF, realm_id=realm_id, value=external_ref)
    conversation = Conversation(
        id=mint_id(started_at or now),
        account_id=account_id,
        title=cut_words(readable_copy(title), account_id=account_id),
        source=source,
        external_ref=external_ref,
        parent_call_id=parent_call_id,
        started_at=started_at,
        created_at=now,
        last_activity_at=started_at or now,
    )
    try:
        with transaction.atomic():
            conversation.save(force_insert=True)
    except IntegrityError as error:
        if constraint_of(error) != "conversations_conversation_external_ref_once":
            raise
        return Conversation.objects.get(account_id=account_id, external_ref=external_ref)
    return conversation
