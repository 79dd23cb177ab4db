"""The text of the statement that `placing` runs; a few variants, each fixed so that it stays prepared."""

from functools import cache

from conversations.services.rows import (
    CALL_RECORD,
    MESSAGE_COLUMNS,
    MESSAGE_RECORD,
    PART_COLUMNS,
    PART_RECORD,
)


@cache
def placing_statement(*, has_generation: bool, has_answer: bool, moves_head: bool, has_calls: bool) -> str:
    """The statement's text: fixed but for what it also writes, so that it stays prepared."""
    generation = GENERATION.format(
        leaf="CASE WHEN %(count)s > 1 THEN t.last_seq - 1 ELSE t.parent_seq END"
        if has_answer
        else "t.last_seq",
        message="t.last_seq" if has_answer else "NULL::int",
    )
    generation_number = "t.generation_number" if has_generation and has_answer else "NULL::int"
    statement = STATEMENT.format(
        next_generation=int(has_generation),
        head=HEAD_SET if moves_head else "",
        head_move=HEAD_MOVE if moves_head else "",
        generation=generation if has_generation else "",
        generation_number="t.generation_number" if has_generation else "NULL::int",
        # An INSERT without rows would still cost its plan and its triggers.
        calls=CALLS.format(call_record=CALL_RECORD, generation_number=generation_number) if has_calls else "",
        message_columns=MESSAGE_COLUMNS,
        message_record=MESSAGE_RECORD,
        part_columns=PART_COLUMNS,
        part_record=PART_RECORD,
    )
    # The driver keeps what it made of a statement only up to 4,096 characters.
    return " ".join(statement.split())


HEAD_SET = """,
        head_seq = c.next_seq + %(count)s - 1,
        head_move = coalesce(c.head_move, 0) + 1"""

HEAD_MOVE = """
), move AS (
    INSERT INTO conversations_headmove
        (conversation_id, number, head_seq, moved_at, moved_by_kind, moved_by_id, reason)
    SELECT t.id, t.head_move, t.last_seq, greatest(%(now)s, t.moved_at),
        %(actor_kind)s, %(actor_id)s, %(head_reason)s
    FROM taken t"""

# The row type's own columns in their own order, whatever they are.
GENERATION = """
), generation AS (
    INSERT INTO conversations_generation SELECT g.* FROM taken t, jsonb_populate_record(
        NULL::conversations_generation, %(generation)s::jsonb || jsonb_build_object(
            'conversation_id', t.id, 'number', t.generation_number,
            'leaf_seq', {leaf}, 'message_seq', {message})) g"""

CALLS = """
), call AS (
    INSERT INTO conversations_toolcall
        (conversation_id, seq, ordinal, call_id, name, status, arguments, generation_number, requested_at)
    SELECT t.id, t.first_seq + c.place, c.ordinal, c.call_id, c.name, c.status,
        c.arguments::jsonb, CASE WHEN t.first_seq + c.place = t.last_seq THEN {generation_number} END, %(now)s
    FROM taken t, json_to_recordset(%(calls)s::json) AS c({call_record})"""

STATEMENT = """
WITH conversation AS MATERIALIZED (
    SELECT id, account_id, head_seq, head_move
    FROM conversations_conversation WHERE id = %(conversation)s FOR NO KEY UPDATE
), place AS MATERIALIZED (
    SELECT c.id, c.account_id, p.seq AS parent_seq, p.group_ordinal, p.path_digest, p.moved_at
    FROM conversation c, conversations_place_below(c.id,
        CASE %(below)s::int WHEN 0 THEN c.head_seq WHEN -1 THEN NULL ELSE %(below)s::int END, c.head_move) p
    WHERE (p.seq IS NOT NULL OR %(below)s::int = -1 OR (%(below)s::int = 0 AND c.head_seq IS NULL))
        AND NOT (%(extends_turn)s AND coalesce(p.role, '') = 'assistant')
), taken AS (
    UPDATE conversations_conversation c SET
        next_seq = c.next_seq + %(count)s,
        next_generation = c.next_generation + {next_generation},
        last_activity_at = greatest(c.last_activity_at, %(now)s){head}
    FROM place p WHERE c.id = p.id
    RETURNING c.id, c.next_seq - %(count)s AS first_seq, c.next_seq - 1 AS last_seq, c.head_move,
        c.next_generation - 1 AS generation_number, p.parent_seq, p.group_ordinal, p.moved_at,
        CASE WHEN p.parent_seq IS NULL
            THEN substring(sha256(uuid_send(p.account_id)) FROM 1 FOR 16)
            ELSE p.path_digest END AS parent_digest
), message AS (
    INSERT INTO conversations_message (conversation_id, seq, parent_seq, answers_seq, path_digest, dialect,
        branch_reason, created_at, {message_columns})
    SELECT t.id, t.first_seq + m.place,
        CASE m.place WHEN 0 THEN t.parent_seq ELSE t.first_seq + m.place - 1 END,
        CASE WHEN m.answers >= 0 THEN t.first_seq + m.answers WHEN m.answers = -1 THEN t.group_ordinal END,
        coalesce(m.digest, conversations_chain(t.parent_digest, %(units)s::bytea[])),
        %(dialect)s, CASE m.place WHEN 0 THEN %(branch_reason)s ELSE 'continue' END, %(now)s,
        {message_columns}
    FROM taken t, json_to_recordset(%(messages)s::json) AS m({message_record})
    RETURNING seq, answers_seq
), part AS (
    INSERT INTO conversations_messagepart (conversation_id, seq, answers_seq, {part_columns})
    SELECT t.id, m.seq, CASE WHEN p.type = 'tool_result' AND NOT p.orphan THEN m.answers_seq END,
        {part_columns}
    FROM taken t, message m, json_to_recordset(%(parts)s::json) AS p({part_record})
    WHERE m.seq = t.first_seq + p.place
{calls}{head_move}{generation}
)
SELECT first_seq, last_seq, head_move, {generation_number} FROM taken t
"""
