"""Branches that nobody looks at: their messages go in one statement, costs and log lines stay."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from ledger.services.detaching import detach_effects
from retention.purging.archiving import without_archives
from retention.purging.due import due_conversations, free_of
from retention.purging.sealing import seal_calls
from retention.purging.step import Ask, Taken
from retention.vocabulary import DataClass, PolicyAction

_FORKED = "AND c.has_fork AND c.head_seq IS NOT NULL"

_DEAD = """
WITH RECURSIVE live AS (
    SELECT m.conversation_id, m.seq, m.parent_seq FROM conversations_conversation c
        JOIN conversations_message m ON m.conversation_id = c.id AND m.seq = c.head_seq
        WHERE c.id = ANY(%s)
    UNION ALL
    SELECT m.conversation_id, m.seq, m.parent_seq FROM live l JOIN conversations_message m
        ON m.conversation_id = l.conversation_id AND m.seq = l.parent_seq
)
SELECT m.conversation_id, array_agg(m.seq ORDER BY m.seq) FROM conversations_message m
WHERE m.conversation_id = ANY(%s) AND NOT EXISTS (
    SELECT FROM live l WHERE l.conversation_id = m.conversation_id AND l.seq = m.seq)
GROUP BY 1 ORDER BY 1
"""


def take(ask: Ask) -> Taken:
    candidates, after = due_conversations(
        ask, data_class=DataClass.ABANDONED_BRANCHES, action=PolicyAction.PURGE, having=_FORKED
    )
    taken = Taken(after)
    free = free_of(candidates, taken=taken, takes_rows=True)
    dead = dead_messages(free)
    archived = without_archives([conversation_id for conversation_id, _ in dead], taken=taken)
    dead = [(conversation_id, seqs) for conversation_id, seqs in dead if conversation_id in archived]
    for conversation_id, seqs in dead:
        seal_calls(conversation_ids=[conversation_id], seqs=seqs, now=ask.now, run_id=ask.run_id)
        taken.count(
            "effects_detached", detach_effects(conversation_id=conversation_id, seqs=seqs, now=ask.now)
        )
    taken.count("message", _delete(dead))
    taken.count("gone", len(free))
    return taken


def dead_messages(conversation_ids: Sequence[UUID]) -> list[tuple[UUID, list[int]]]:
    """Return the messages of each conversation that are not on the path from its head."""
    with connection.cursor() as cursor:
        cursor.execute(_DEAD, [list(conversation_ids), list(conversation_ids)])
        return list(cursor.fetchall())


def _delete(dead: list[tuple[UUID, list[int]]]) -> int:
    pairs = [(conversation_id, seq) for conversation_id, seqs in dead for seq in seqs]
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM conversations_message m USING unnest(%s::uuid[], %s::int[]) AS dead (id, seq)"
            " WHERE m.conversation_id = dead.id AND m.seq = dead.seq",
            [[pair[0] for pair in pairs], [pair[1] for pair in pairs]],
        )
    # What the cascade took first does not count as a row of this statement.
    return len(pairs)
