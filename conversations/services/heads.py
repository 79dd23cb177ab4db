"""Moving a conversation's head: always with its line in the log."""

from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from access.actors import Actor
from conversations.errors import ConflictError, NotFoundError, explained
from conversations.services.placing import check_deferred, lock_conversation
from conversations.vocabulary import HeadMoveReason


@transaction.atomic
def switch_head(
    *,
    conversation_id: UUID,
    seq: int,
    actor: Actor,
    now: datetime,
    reason: HeadMoveReason = HeadMoveReason.SWITCH,
    expected_move: int | None = None,
) -> int:
    """Show another message's path from now on; return the number of the move.

    To the message that is the head already, nothing is written. With
    `expected_move`, refuses where the head has moved since that move.
    """
    place = f"conversation {conversation_id}, message {seq}"
    lock_conversation(conversation_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT head_seq, coalesce(head_move, 0) FROM conversations_conversation WHERE id = %s",
            [conversation_id],
        )
        head_seq, head_move = cursor.fetchone()
        if expected_move is not None and head_move != expected_move:
            raise ConflictError(
                "head-moved",
                f"the head has moved: it was move {expected_move}, now it is {head_move}",
                place=place,
            )
        if head_seq == seq:
            return int(head_move)
        with explained(place=place):
            cursor.execute(
                MOVE,
                {
                    "conversation": conversation_id,
                    "seq": seq,
                    "now": now,
                    "kind": actor.kind,
                    "actor": actor.id,
                    "reason": reason,
                },
            )
            if cursor.rowcount == 0:
                raise NotFoundError(
                    "head-elsewhere", "the head must be a message of this conversation", place=place
                )
            check_deferred()
    return int(head_move) + 1


MOVE = """
WITH moved AS (
    UPDATE conversations_conversation c SET head_seq = m.seq, head_move = coalesce(c.head_move, 0) + 1,
        last_activity_at = greatest(c.last_activity_at, %(now)s)
    FROM conversations_message m
    WHERE c.id = %(conversation)s AND m.conversation_id = c.id AND m.seq = %(seq)s
    RETURNING c.id, c.head_seq, c.head_move
)
INSERT INTO conversations_headmove
    (conversation_id, number, head_seq, moved_at, moved_by_kind, moved_by_id, reason)
SELECT m.id, m.head_move, m.head_seq, greatest(%(now)s, previous.moved_at), %(kind)s, %(actor)s, %(reason)s
FROM moved m LEFT JOIN conversations_headmove previous
    ON previous.conversation_id = m.id AND previous.number = m.head_move - 1
"""
