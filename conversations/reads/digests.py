"""The digest of a stored path, ready to go on from."""

import hashlib
from uuid import UUID

from django.db import connection

from conversations.identity import PathChain
from conversations.models import Message
from conversations.reads.path import read_messages
from conversations.vocabulary import Role


def chain_at(*, account_id: UUID, conversation_id: UUID, seq: int | None) -> PathChain:
    """Return the chain at the end of message `seq`, or at the start where it is None.

    Where an assistant's turn is open there, the turn's messages are read back:
    what follows may still belong to it. A turn that has lost bytes is its own place in the chain: no
    other words match it. Raises Message.DoesNotExist.
    """
    if seq is None:
        return PathChain(account_id=account_id)
    with connection.cursor() as cursor:
        cursor.execute(_TURN, {"conversation": conversation_id, "seq": seq})
        above = [(place, role, None if found is None else bytes(found)) for place, role, found in cursor]
    if not above:
        raise Message.DoesNotExist
    turn = [place for place, role, _ in above if role == Role.ASSISTANT]
    digest = next((found for _, role, found in above if role != Role.ASSISTANT), None)
    end = next((found for _, role, found in reversed(above) if role == Role.ASSISTANT), None)
    stored = read_messages(conversation_id=conversation_id, seqs=turn) if turn else []
    if any(message.lost_parts for message in stored):
        return PathChain(account_id=account_id, digest=lost_turn(conversation_id, turn[-1]), end=end)
    open_turn = [message.draft for message in stored]
    return PathChain(account_id=account_id, digest=digest, open_turn=open_turn, end=end)


def lost_turn(conversation_id: UUID, seq: int) -> bytes:
    """Return what stands for an open turn that ends at `seq` and has lost bytes."""
    return hashlib.sha256(b"lost turn" + conversation_id.bytes + seq.to_bytes(4)).digest()[:16]


# The message, and above it its turn down from what the turn follows: a probe of the key for each, however
# the planner thinks of the table.
_TURN = """
WITH RECURSIVE above AS (
    SELECT seq, parent_seq, role, path_digest FROM conversations_message
    WHERE conversation_id = %(conversation)s AND seq = %(seq)s
    UNION ALL
    SELECT m.* FROM above a, LATERAL (
        SELECT seq, parent_seq, role, path_digest FROM conversations_message
        WHERE conversation_id = %(conversation)s AND seq = a.parent_seq OFFSET 0) m
    WHERE a.role = 'assistant'
)
SELECT seq, role, path_digest FROM above ORDER BY seq
"""
