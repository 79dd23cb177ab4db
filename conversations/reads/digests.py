"""The digest of a stored path, ready to go on from."""

import hashlib
from uuid import UUID

from conversations.identity import PathChain
from conversations.models import Message
from conversations.reads.path import read_messages
from conversations.vocabulary import Role


def chain_at(*, account_id: UUID, conversation_id: UUID, seq: int | None) -> PathChain:
    """Return the chain at the end of message `seq`, or at the start where it is None.

    Where an assistant's turn is open there, the turn's messages are read back:
    what follows may still belong to it. A turn that has lost bytes is its own place in the chain: no
    other words match it.
    """
    turn: list[int] = []
    digest: bytes | None = None
    end: bytes | None = None
    while seq is not None:
        role, parent_seq, path_digest = Message.objects.values_list("role", "parent_seq", "path_digest").get(
            conversation_id=conversation_id, seq=seq
        )
        if role != Role.ASSISTANT:
            digest = None if path_digest is None else bytes(path_digest)
            break
        if not turn and path_digest is not None:
            end = bytes(path_digest)
        turn.insert(0, seq)
        seq = parent_seq
    stored = read_messages(conversation_id=conversation_id, seqs=turn) if turn else []
    if any(message.lost_parts for message in stored):
        return PathChain(account_id=account_id, digest=lost_turn(conversation_id, turn[-1]), end=end)
    open_turn = [message.draft for message in stored]
    return PathChain(account_id=account_id, digest=digest, open_turn=open_turn, end=end)


def lost_turn(conversation_id: UUID, seq: int) -> bytes:
    """Return what stands for an open turn that ends at `seq` and has lost bytes."""
    return hashlib.sha256(b"lost turn" + conversation_id.bytes + seq.to_bytes(4)).digest()[:16]
