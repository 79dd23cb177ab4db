"""What people and models say: append, edit, regenerate. Each once only, by the caller's message id."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import ConflictError, NotFoundError, StoreError
from conversations.identity import unit_digests
from conversations.models import Message
from conversations.reads.path import StoredMessage, read_messages
from conversations.redaction.drafts import CutMessage, cut_message, note_part_cuts
from conversations.services.composing import refuse_malformed, refuse_unfit
from conversations.services.placing import AS_ROOT, AT_HEAD, ClientIdUsedError, Placed, Run, place
from conversations.vocabulary import BranchReason, Dialect, HeadMoveReason, Role


@dataclass(frozen=True, slots=True)
class Appended:
    """The message as stored; `is_new` is false where a retry found it there already."""

    conversation_id: UUID
    seq: int
    is_new: bool


def append_message(
    *,
    conversation_id: UUID,
    message: MessageDraft,
    actor: Actor,
    now: datetime,
    below: int = AT_HEAD,
    dialect: Dialect | None = None,
) -> Appended:
    """Write a message below the head, or below the message named, and move the head to it.

    A client id that was used before returns what was stored then; used for
    other content it is refused. Results must answer calls of the message
    before, once each; a call must be answered before the conversation goes on;
    and what the dialect's provider would refuse of it anywhere is refused.
    Secrets that the account's switch names are cut out first.
    """
    cut = cut_message(conversation_id=conversation_id, message=message)
    run = Run(
        conversation_id=conversation_id,
        messages=[cut.message],
        below=below,
        actor=actor,
        now=now,
        dialect=dialect,
        units=unit_digests(cut.message),
    )
    return _place_once(run, cut)


def edit_message(
    *, conversation_id: UUID, seq: int, message: MessageDraft, actor: Actor, now: datetime
) -> Appended:
    """Write another version of a user's message beside it, and move the head there.

    What followed the first version stays below it, untouched.
    """
    original = _message(conversation_id=conversation_id, seq=seq)
    if original.role != Role.USER:
        raise StoreError(
            "edit-not-a-users",
            f"only a user's message can be edited; this one is the {original.role}'s",
            place=f"conversation {conversation_id}, message {seq}",
        )
    return _write_sibling(original, message, actor, now, HeadMoveReason.USER_EDIT, BranchReason.USER_EDIT)


def regenerate_message(
    *,
    conversation_id: UUID,
    seq: int,
    message: MessageDraft,
    actor: Actor,
    now: datetime,
) -> Appended:
    """Write another answer beside the assistant's message `seq`, and move the head to it."""
    original = _message(conversation_id=conversation_id, seq=seq)
    if original.role != Role.ASSISTANT:
        raise StoreError(
            "regenerate-not-an-answer",
            f"only an assistant's message can be regenerated; this one is the {original.role}'s",
            place=f"conversation {conversation_id}, message {seq}",
        )
    return _write_sibling(original, message, actor, now, HeadMoveReason.REGENERATE, BranchReason.REGENERATE)


def _write_sibling(
    original: Message,
    message: MessageDraft,
    actor: Actor,
    now: datetime,
    head_reason: HeadMoveReason,
    branch_reason: BranchReason,
) -> Appended:
    conversation_id = original.conversation_id
    below = AS_ROOT if original.parent_seq is None else original.parent_seq
    cut = cut_message(conversation_id=conversation_id, message=message)
    run = Run(
        conversation_id=conversation_id,
        messages=[cut.message],
        below=below,
        actor=actor,
        now=now,
        head_reason=head_reason,
        branch_reason=branch_reason,
        dialect=Dialect(original.dialect) if original.dialect else None,
        units=unit_digests(cut.message),
    )
    return _place_once(run, cut)


def _place_once(run: Run, cut: CutMessage) -> Appended:
    refuse_unfit(run.messages[0], conversation_id=run.conversation_id)
    refuse_malformed(run.messages[0], dialect=run.dialect, conversation_id=run.conversation_id)
    try:
        placed = _place_cut(run, cut) if cut.spans else place(run)
    except ClientIdUsedError:
        known = _stored(conversation_id=run.conversation_id, message=run.messages[0])
        if known is None:
            raise
        return known
    return Appended(conversation_id=run.conversation_id, seq=placed.last_seq, is_new=True)


@transaction.atomic
def _place_cut(run: Run, cut: CutMessage) -> Placed:
    """Write the message and where it was cut: both or neither."""
    placed = place(run)
    spans = [(placed.last_seq, ordinal, span) for ordinal, span in cut.spans]
    note_part_cuts(conversation_id=run.conversation_id, spans=spans, now=run.now)
    return placed


def _stored(*, conversation_id: UUID, message: MessageDraft) -> Appended | None:
    """Return what was stored under the message's client id; refuse the id for other content."""
    if message.client_message_id is None:
        return None
    seq = (
        Message.objects.filter(conversation_id=conversation_id, client_message_id=message.client_message_id)
        .values_list("seq", flat=True)
        .first()
    )
    if seq is None:
        return None
    [stored] = read_messages(conversation_id=conversation_id, seqs=[seq])
    if not says_the_same(stored, message):
        raise ConflictError(
            "client-id-used",
            f"client message id {message.client_message_id!r} was used for other content",
            place=f"conversation {conversation_id}, message {seq}",
        )
    return Appended(conversation_id=conversation_id, seq=seq, is_new=False)


def says_the_same(stored: StoredMessage, message: MessageDraft) -> bool:
    """Tell whether a message is the stored one by value; against one that lost bytes nothing can be said."""
    if stored.lost_parts:
        return True
    roles = {stored.draft.role, message.role}
    # Results are the user's in one dialect and the tool's in the others.
    is_same_side = len(roles) == 1 or (roles == {Role.USER, Role.TOOL} and any(message.results()))
    return is_same_side and unit_digests(stored.draft) == unit_digests(message)


def _message(*, conversation_id: UUID, seq: int) -> Message:
    found = Message.objects.filter(conversation_id=conversation_id, seq=seq).first()
    if found is None:
        raise NotFoundError(
            "no-message", "there is no such message", place=f"conversation {conversation_id}, message {seq}"
        )
    return found
