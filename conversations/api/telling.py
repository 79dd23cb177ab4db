"""Messages with their parts, read for an answer: a fixed number of queries, however many there are."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from conversations.api.answers import message_head_answer
from conversations.drafts import PartDraft
from conversations.public_ids import generation_id, message_id
from conversations.reads.beside import read_answering, read_branch_reasons, read_odd_parts
from conversations.reads.path import StoredMessage, read_messages
from conversations.reads.skeleton import Node
from conversations.reads.tree import Tree
from conversations.reads.window import CallLife, read_call_lives
from conversations.vocabulary import PartBytes
from conversations.wire.shapes import COMPACT
from conversations.wire.shells import fill_strings


def tell_messages(
    *, conversation_id: UUID, seqs: Sequence[int], with_large: bool = False
) -> list[dict[str, Any]]:
    """Return the messages named, with their parts; five queries.

    Payloads that lie in blob storage are left out unless `with_large`; archived bytes are fetched.
    """
    beside = _Beside(conversation_id, seqs)
    stored = read_messages(
        conversation_id=conversation_id, seqs=seqs, with_bytes=with_large or beside.has_archived
    )
    # One that was written since the first of these queries is told the next time.
    return [_message(conversation_id, one, beside) for one in stored if one.seq in beside.reasons]


def tell_head(*, conversation_id: UUID, seq: int) -> dict[str, Any]:
    """Return one message without its parts."""
    [stored] = read_messages(conversation_id=conversation_id, seqs=[seq], with_bytes=False)
    reasons = read_branch_reasons(conversation_id=conversation_id, seqs=[seq])
    return message_head_answer(conversation_id, stored, branch_reason=reasons[seq])


def versions_at(
    tree: Tree, conversation_id: UUID, seq: int, *, hidden: Collection[int]
) -> list[dict[str, Any]]:
    """Return every version of a message of the tree but those in `hidden`; none where it is alone."""
    shown = [one for one in tree.versions_of(seq) if one not in hidden]
    if len(shown) < 2:
        return []
    return [_version(tree, conversation_id, tree.nodes[one]) for one in shown]


def _version(tree: Tree, conversation_id: UUID, node: Node) -> dict[str, Any]:
    return {
        "id": message_id(conversation_id, node.seq),
        "seq": node.seq,
        "role": node.role,
        "branch_reason": node.branch_reason,
        "created_at": node.created_at,
        "leaf_id": message_id(conversation_id, tree.newest_leaf_below(node.seq)),
    }


class _Beside:
    """What stands beside the parts: why messages hang there, lost and large bytes, calls, attempts."""

    def __init__(self, conversation_id: UUID, seqs: Sequence[int]) -> None:
        self.reasons = read_branch_reasons(conversation_id=conversation_id, seqs=seqs)
        self.odd = read_odd_parts(conversation_id=conversation_id, seqs=seqs)
        self.has_archived = any(part.bytes_state == PartBytes.ARCHIVED for part in self.odd.values())
        self.lives = read_call_lives(conversation_id=conversation_id, seqs=seqs)
        self.attempts = read_answering(conversation_id=conversation_id, seqs=seqs)


def _message(conversation_id: UUID, stored: StoredMessage, beside: _Beside) -> dict[str, Any]:
    number = beside.attempts.get(stored.seq)
    return {
        **message_head_answer(conversation_id, stored, branch_reason=beside.reasons[stored.seq]),
        "generation_id": None if number is None else generation_id(conversation_id, number),
        "archive_trouble": stored.lost_why or None,
        "parts": [_part(ordinal, part, stored, beside) for ordinal, part in enumerate(stored.draft.parts)],
    }


def _part(ordinal: int, part: PartDraft, stored: StoredMessage, beside: _Beside) -> dict[str, Any]:
    odd = beside.odd.get((stored.seq, ordinal))
    opened = stored.archived.get(ordinal)
    size = odd.size if odd else None
    life = beside.lives.get((stored.seq, part.tool_call_id)) if part.tool_call_id else None
    return {
        "ordinal": ordinal,
        "type": part.type,
        "provider_type": part.provider_type,
        "text": part.text,
        "block": _block(part),
        "tool_call_id": part.tool_call_id,
        "tool_name": part.tool_name,
        "status": part.status,
        "call": None if part.orphan else _life(life),
        "media_type": part.media_type,
        "bytes_state": opened or (odd.bytes_state if odd else PartBytes.PRESENT),
        "is_large": size is not None and part.payload is None,
        "size": size,
        "is_orphan": part.orphan,
        "is_minted_id": part.is_minted_id,
    }


def _life(life: CallLife | None) -> dict[str, Any] | None:
    if life is None:
        return None
    return {"status": life.status, "error_code": life.error_code, "duration_ms": life.duration_ms}


def _block(part: PartDraft) -> str | None:
    """The block's JSON, where it is more than a plain text; as far as its bytes are here."""
    if part.payload is not None:
        return bytes(part.payload).decode("utf-8", "replace")
    if part.text is None or part.shell is None:
        return None
    return fill_strings(part.shell, part.text, COMPACT)
