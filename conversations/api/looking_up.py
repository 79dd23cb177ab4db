"""Finding what an address or a body names, within the key's realm; all else does not exist."""

from uuid import UUID

from conversations.errors import NotFoundError
from conversations.models import Conversation, Generation, Message
from conversations.public_ids import generation_id, message_id, read_generation_id, read_message_id

LARGEST = 2**31 - 1


def conversation_in(realm_id: int, conversation_id: UUID) -> Conversation:
    """Return the conversation with its account; raises NotFoundError, for another realm's too."""
    found = (
        Conversation.objects.filter(pk=conversation_id, account__realm_id=realm_id)
        .select_related("account")
        .first()
    )
    if found is None:
        raise NotFoundError("no-conversation", "there is no such conversation", place=str(conversation_id))
    return found


def generation_in(realm_id: int, spelled: str) -> tuple[Conversation, Generation]:
    """Return the attempt that a public id spells, and its conversation."""
    try:
        named = read_generation_id(spelled)
    except ValueError as error:
        raise NotFoundError("no-attempt", str(error)) from None
    found = (
        Generation.objects.filter(
            conversation_id=named.conversation_id,
            number=named.number,
            conversation__account__realm_id=realm_id,
        )
        .select_related("conversation__account")
        .first()
    )
    if found is None:
        raise NotFoundError(
            "no-attempt",
            "there is no such attempt",
            place=generation_id(named.conversation_id, named.number),
        )
    return found.conversation, found


def seq_of(conversation: Conversation, spelled: str) -> int:
    """Return the number of the message that a public id spells, which must exist in the conversation."""
    try:
        named = read_message_id(spelled)
    except ValueError as error:
        raise NotFoundError("no-message", str(error), place=f"conversation {conversation.pk}") from None
    if named.conversation_id != conversation.pk:
        raise NotFoundError(
            "no-message",
            "this message is not of the conversation",
            place=f"conversation {conversation.pk}, message {spelled}",
        )
    return checked_seq(conversation, named.number)


def checked_seq(conversation: Conversation, seq: int) -> int:
    """Return `seq` where the conversation has such a message; one probe of the key."""
    fitting_seq(conversation, seq)
    if not Message.objects.filter(conversation_id=conversation.pk, seq=seq).exists():
        raise no_message(conversation, seq)
    return seq


def fitting_seq(conversation: Conversation, seq: int) -> int:
    """Return `seq` where a message could have that number at all."""
    if not 0 < seq <= LARGEST:
        raise no_message(conversation, seq)
    return seq


def no_message(conversation: Conversation, seq: int) -> NotFoundError:
    place = message_id(conversation.pk, min(seq, LARGEST))
    return NotFoundError("no-message", "there is no such message", place=place)
