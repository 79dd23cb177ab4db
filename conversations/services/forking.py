"""A new conversation that begins as the path to a message of another one."""

from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from access.actors import Actor
from conversations.errors import NotFoundError
from conversations.models import Conversation, ToolCall
from conversations.reads.path import read_path
from conversations.services.placing import AS_ROOT, Run, place
from conversations.services.starting import start_conversation
from conversations.vocabulary import BranchReason, CallStatus, HeadMoveReason


@transaction.atomic
def fork_conversation(
    *, conversation_id: UUID, leaf_seq: int, actor: Actor, now: datetime, external_ref: str = ""
) -> Conversation:
    """Copy the path to `leaf_seq` into a new conversation of the same account; return it.

    Calls keep their ids, which may now be found in both. Attempts and their
    costs stay where they were made. A second fork with the same `external_ref`
    returns the first.
    """
    origin = Conversation.objects.get(pk=conversation_id)
    path = read_path(conversation_id=conversation_id, leaf_seq=leaf_seq)
    if not path:
        raise NotFoundError(
            "no-message",
            "there is no such message",
            place=f"conversation {conversation_id}, message {leaf_seq}",
        )
    fork = start_conversation(
        account_id=origin.account_id, now=now, title=origin.title, external_ref=external_ref
    )
    if fork.head_seq is not None:
        return fork
    for message in path:
        message.draft.client_message_id = None
    seqs = [message.seq for message in path]
    run = Run(
        conversation_id=fork.pk,
        messages=[message.draft for message in path],
        below=AS_ROOT,
        actor=actor,
        now=now,
        head_reason=HeadMoveReason.FORK,
        branch_reason=BranchReason.FORK,
        dialect=path[-1].dialect,
        digests=[message.path_digest for message in path],
        unanswered=_passed_over(conversation_id, seqs),
    )
    place(run)
    _copy_call_lives(conversation_id=conversation_id, seqs=seqs, fork_id=fork.pk)
    fork.refresh_from_db()
    return fork


def _passed_over(conversation_id: UUID, seqs: list[int]) -> set[tuple[int, str]]:
    places = {seq: place for place, seq in enumerate(seqs)}
    # Of the whole tree: a path is longer than a statement may have parameters, and such calls are few.
    calls = ToolCall.objects.filter(
        conversation_id=conversation_id, status=CallStatus.UNANSWERED
    ).values_list("seq", "call_id")
    return {(places[seq], call_id) for seq, call_id in calls if seq in places}


def _copy_call_lives(*, conversation_id: UUID, seqs: list[int], fork_id: UUID) -> None:
    """Say of the copied calls how they ended; the fork numbers its messages from 1."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_toolcall copy"
            " SET status = origin.status, error_code = origin.error_code, duration_ms = origin.duration_ms"
            " FROM conversations_toolcall origin, unnest(%s::int[]) WITH ORDINALITY AS path(seq, place)"
            " WHERE origin.conversation_id = %s AND origin.seq = path.seq"
            " AND copy.conversation_id = %s AND copy.seq = path.place AND copy.call_id = origin.call_id",
            [seqs, conversation_id, fork_id],
        )
