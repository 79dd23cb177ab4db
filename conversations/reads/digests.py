"""The digest of a stored path, ready to go on from."""

from uuid import UUID

from conversations.identity import PathChain
from conversations.models import Message
from conversations.reads.path import read_messages
from conversations.vocabulary import Role


def chain_at(*, account_id: UUID, conversation_id: UUID, seq: int | None) -> PathChain:
    """Return the chain at the end of message `seq`, or at the start where it is None.

    Where an assistant's turn is open there, the turn's messages are read back:
    what follows may still belong to it.
    """
    turn: list[int] = []
    digest: bytes | None = None
    while seq is not None:
        role, parent_seq, path_digest = Message.objects.values_list("role", "parent_seq", "path_digest").get(
            conversation_id=conversation_id, seq=seq
        )
        if role != Role.ASSISTANT:
            digest = None if path_digest is None else bytes(path_digest)
            break
        turn.insert(0, seq)
        seq = parent_seq
    stored = read_messages(conversation_id=conversation_id, seqs=turn) if turn else []
    return PathChain(account_id=account_id, digest=digest, open_turn=[message.draft for message in stored])
