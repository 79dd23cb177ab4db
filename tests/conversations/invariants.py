"""What holds of every conversation, whoever wrote it in whatever order. Asked of the rows by SQL."""

from itertools import dropwhile
from uuid import UUID

from django.db import connection

from conversations.identity import path_digests
from conversations.models import Conversation
from conversations.reads.path import StoredMessage, read_path
from conversations.vocabulary import Role

# Each finds what breaks a rule; its answer is empty where the rule holds.
RULES = {
    "seqs run from 1 to the counter without a gap": """
        SELECT s FROM conversations_conversation c, generate_series(1, c.next_seq - 1) s
        WHERE c.id = %(id)s AND NOT EXISTS (
            SELECT FROM conversations_message m WHERE m.conversation_id = c.id AND m.seq = s)
        UNION ALL
        SELECT m.seq FROM conversations_message m
        JOIN conversations_conversation c ON c.id = m.conversation_id
        WHERE c.id = %(id)s AND m.seq >= c.next_seq""",
    "attempts run from 1 to the counter without a gap": """
        SELECT s FROM conversations_conversation c, generate_series(1, c.next_generation - 1) s
        WHERE c.id = %(id)s AND NOT EXISTS (
            SELECT FROM conversations_generation g WHERE g.conversation_id = c.id AND g.number = s)
        UNION ALL
        SELECT g.number FROM conversations_generation g
        JOIN conversations_conversation c ON c.id = g.conversation_id
        WHERE c.id = %(id)s AND g.number >= c.next_generation""",
    "the log runs from 1 to the head's move without a gap, and ends in the head": """
        SELECT s FROM conversations_conversation c, generate_series(1, coalesce(c.head_move, 0)) s
        WHERE c.id = %(id)s AND NOT EXISTS (
            SELECT FROM conversations_headmove h WHERE h.conversation_id = c.id AND h.number = s)
        UNION ALL
        SELECT h.number FROM conversations_headmove h
        JOIN conversations_conversation c ON c.id = h.conversation_id
        WHERE c.id = %(id)s AND (h.number > coalesce(c.head_move, 0)
            OR h.number = c.head_move AND h.head_seq IS DISTINCT FROM c.head_seq)""",
    "the log's times never run backwards": """
        SELECT number FROM (
            SELECT number, moved_at, lag(moved_at) OVER (ORDER BY number) AS before
            FROM conversations_headmove WHERE conversation_id = %(id)s) line
        WHERE moved_at < before""",
    "every parent comes before its child": """
        SELECT m.seq FROM conversations_message m LEFT JOIN conversations_message p
            ON p.conversation_id = m.conversation_id AND p.seq = m.parent_seq
        WHERE m.conversation_id = %(id)s AND m.parent_seq IS NOT NULL
        AND (p.seq IS NULL OR p.seq >= m.seq OR p.group_ordinal > m.group_ordinal)""",
    "a client id has one row": """
        SELECT min(seq) FROM conversations_message WHERE conversation_id = %(id)s
        GROUP BY client_message_id HAVING client_message_id IS NOT NULL AND count(*) > 1""",
    "a fork is known, and nothing else is": """
        SELECT c.id FROM conversations_conversation c WHERE c.id = %(id)s AND c.has_fork <> EXISTS (
            SELECT FROM conversations_message m WHERE m.conversation_id = c.id
            GROUP BY m.parent_seq HAVING count(*) > 1)""",
    "call parts and rows of calls' lives are the same": """
        (SELECT seq, ordinal, tool_call_id FROM conversations_messagepart
            WHERE conversation_id = %(id)s AND type = 'tool_use' AND NOT orphan
        EXCEPT SELECT seq, ordinal, call_id FROM conversations_toolcall WHERE conversation_id = %(id)s)
        UNION ALL
        (SELECT seq, ordinal, call_id FROM conversations_toolcall WHERE conversation_id = %(id)s
        EXCEPT SELECT seq, ordinal, tool_call_id FROM conversations_messagepart
            WHERE conversation_id = %(id)s AND type = 'tool_use' AND NOT orphan)""",
    "every result answers a call of its message's group": """
        SELECT r.seq FROM conversations_messagepart r
        JOIN conversations_message m ON m.conversation_id = r.conversation_id AND m.seq = r.seq
        WHERE r.conversation_id = %(id)s AND r.type = 'tool_result' AND NOT r.orphan
        AND (m.answers_seq IS DISTINCT FROM r.answers_seq OR NOT EXISTS (
            SELECT FROM conversations_toolcall c WHERE c.conversation_id = r.conversation_id
            AND c.seq = r.answers_seq AND c.call_id = r.tool_call_id))""",
    "a call has one result on every path that goes on, and at most one where it ends": """
        WITH RECURSIVE above AS (
            SELECT seq AS leaf, seq, parent_seq, answers_seq FROM conversations_message
                WHERE conversation_id = %(id)s
            UNION ALL
            SELECT a.leaf, m.seq, m.parent_seq, m.answers_seq FROM above a
            JOIN conversations_message m ON m.conversation_id = %(id)s AND m.seq = a.parent_seq
        ), counted AS (
            SELECT a.leaf, c.call_id, c.status,
                (SELECT count(*) FROM above b JOIN conversations_messagepart r
                    ON r.conversation_id = %(id)s AND r.seq = b.seq AND r.answers_seq = c.seq
                    AND r.tool_call_id = c.call_id WHERE b.leaf = a.leaf) AS results,
                EXISTS (SELECT FROM above b WHERE b.leaf = a.leaf AND b.seq > c.seq
                    AND b.answers_seq IS DISTINCT FROM c.seq) AS goes_on
            FROM above a JOIN conversations_toolcall c ON c.conversation_id = %(id)s AND c.seq = a.seq
        )
        SELECT leaf, call_id, results FROM counted
        WHERE results > 1 OR goes_on AND results = 0 AND status <> 'unanswered'""",
    "an answer hangs below its attempt's leaf": """
        SELECT g.number FROM conversations_generation g JOIN conversations_message m
            ON m.conversation_id = g.conversation_id AND m.seq = g.message_seq
        WHERE g.conversation_id = %(id)s AND m.parent_seq IS DISTINCT FROM g.leaf_seq""",
}


def broken_rules(conversation_id: UUID) -> dict[str, list[tuple]]:
    """Return the rules that the stored conversation breaks, each with what breaks it; empty is well."""
    found = {}
    with connection.cursor() as cursor:
        for rule, query in RULES.items():
            cursor.execute(query, {"id": conversation_id})
            if rows := cursor.fetchall():
                found[rule] = rows
    if wrong := _wrong_digests(conversation_id):
        found["a path's digest is the chain over what was said on it"] = wrong
    return found


def assert_well_formed(conversation_id: UUID) -> None:
    assert broken_rules(conversation_id) == {}


def _wrong_digests(conversation_id: UUID) -> list[tuple]:
    """Compute each leaf's digests anew from what is stored; a digest that was not kept is not wrong.

    System messages at the start of an import are its preamble: they have none, and no part in the others.
    """
    account_id = Conversation.objects.values_list("account_id", flat=True).get(pk=conversation_id)
    wrong: set[tuple] = set()
    for leaf in _leaves(conversation_id):
        path = list(dropwhile(_is_preamble, read_path(conversation_id=conversation_id, leaf_seq=leaf)))
        digests = path_digests([message.draft for message in path], account_id=account_id)
        wrong |= {
            (message.seq,)
            for message, digest in zip(path, digests, strict=True)
            if message.path_digest not in (None, digest)
        }
    return sorted(wrong)


def _is_preamble(message: StoredMessage) -> bool:
    return message.path_digest is None and message.draft.role in (Role.SYSTEM, Role.DEVELOPER)


def _leaves(conversation_id: UUID) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq FROM conversations_message m WHERE conversation_id = %(id)s AND NOT EXISTS ("
            " SELECT FROM conversations_message k WHERE k.conversation_id = %(id)s AND k.parent_seq = m.seq)",
            {"id": conversation_id},
        )
        return [row[0] for row in cursor.fetchall()]
