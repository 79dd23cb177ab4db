"""A history that the client rewrote: where it still hangs, though its beginning is not what is stored.

Clients drop old messages and clear old results. Copying such a history into a
branch would store a second truth, so the request is hung where its last known
turn stands: found by the ids of its calls, or because what the client sent is
the end of the live path but for what old results said. A person's message that
differs is never passed over so: that is an edit, and a branch.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import connection

from conversations.drafts import MessageDraft
from conversations.reads.digests import chain_at
from conversations.reads.path import StoredMessage, read_path
from conversations.services.recording.matching import Matched, RequestPath, find_deepest
from conversations.units import block_units, call_unit, part_text, turn_unit
from conversations.vocabulary import PartType, Role


def last_turn_end(messages: Sequence[MessageDraft]) -> int:
    """Return the index behind the last assistant turn; 0 where nobody has answered yet."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == Role.ASSISTANT:
            return index + 1
    return 0


def find_anchor(
    messages: Sequence[MessageDraft],
    *,
    account_id: UUID,
    conversation_id: UUID,
    head_seq: int | None,
    behind: int,
) -> tuple[RequestPath, Matched] | None:
    """Return where the request hangs, and its path re-chained from there; None where it is a branch.

    Only turns after `messages[behind]` count: what comes before is matched already.
    """
    by_calls = _by_calls(messages, conversation_id=conversation_id, behind=behind)
    anchored = None if by_calls is None else _hang(messages, *by_calls, account_id, conversation_id, head_seq)
    if anchored is None and head_seq is not None:
        by_tail = _by_tail(messages, conversation_id=conversation_id, head_seq=head_seq)
        anchored = (
            None if by_tail is None else _hang(messages, *by_tail, account_id, conversation_id, head_seq)
        )
    return anchored


def _hang(
    messages: Sequence[MessageDraft],
    seq: int,
    index: int,
    account_id: UUID,
    conversation_id: UUID,
    head_seq: int | None,
) -> tuple[RequestPath, Matched] | None:
    """Chain on from message `seq`, which is the request's up to `index`, and match what follows there."""
    chain = chain_at(account_id=account_id, conversation_id=conversation_id, seq=seq)
    path = RequestPath.along(messages, chain, first=index)
    matched = find_deepest(path, conversation_id=conversation_id, head_seq=head_seq) or Matched(seq, index, 0)
    # A turn that is still not known is history that the store never saw: a branch.
    return (path, matched) if matched.place >= last_turn_end(messages) else None


def _by_calls(
    messages: Sequence[MessageDraft], *, conversation_id: UUID, behind: int
) -> tuple[int, int] | None:
    """Look up the last turn that made calls by their ids; it counts if it is there exactly once."""
    for index in range(len(messages) - 1, behind - 1, -1):
        call_ids = [part.tool_call_id for part in messages[index].calls() if not part.is_minted_id]
        if messages[index].role != Role.ASSISTANT or not call_ids:
            continue
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT seq FROM conversations_toolcall WHERE conversation_id = %s AND call_id = ANY(%s)"
                " GROUP BY seq HAVING count(*) = %s LIMIT 2",
                [conversation_id, call_ids, len(call_ids)],
            )
            seqs = [row[0] for row in cursor.fetchall()]
        return (seqs[0], index + 1) if len(seqs) == 1 else None
    return None


def _by_tail(
    messages: Sequence[MessageDraft], *, conversation_id: UUID, head_seq: int
) -> tuple[int, int] | None:
    """Whether the history, up to its last turn, is the end of the live path, whatever results say."""
    end = last_turn_end(messages)
    if end == 0:
        return None
    wanted = _units(messages[:end])
    stored = read_path(conversation_id=conversation_id, leaf_seq=head_seq)
    while stored and stored[-1].draft.role != Role.ASSISTANT:
        stored.pop()
    if not stored or len(wanted) < 2:
        return None
    tail = _units([message.draft for message in _last(stored, wanted)])
    return (stored[-1].seq, end) if tail[-len(wanted) :] == wanted else None


def _last(stored: Sequence[StoredMessage], wanted: Sequence[bytes]) -> Sequence[StoredMessage]:
    # Every message with identity has a unit at least; a turn may be spread over several.
    return stored[-(3 * len(wanted)) :]


def _without_results(message: MessageDraft) -> MessageDraft:
    return replace(message, parts=[part for part in message.parts if part.type != PartType.TOOL_RESULT])


def _units(messages: Sequence[MessageDraft]) -> list[bytes]:
    units: list[bytes] = []
    calls: list[bytes] = []
    texts: list[str] = []
    for message in messages:
        if message.role == Role.ASSISTANT:
            calls += [call_unit(part) for part in message.parts if part.type == PartType.TOOL_USE]
            texts += [part_text(part) for part in message.parts if part.type == PartType.TEXT]
            continue
        units += [unit for unit in [turn_unit(calls, texts)] if unit is not None]
        units += [
            f"result:{part.tool_call_id}".encode()
            for part in message.parts
            if part.type == PartType.TOOL_RESULT
        ]
        units += block_units(_without_results(message))
        calls, texts = [], []
    return units + [unit for unit in [turn_unit(calls, texts)] if unit is not None]
