"""The one statement that writes into a tree: a run of messages, the head, its log line, an attempt.

It locks the conversation's row, takes numbers from its counters and writes
everything below one parent. A writer that waited for the lock has a snapshot
from before what it waited for: so the parent is read by a function, which sees
what is committed by then. Where the statement cannot know enough (an answer
below an answer) it writes nothing, and `place` runs it again under the lock.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import NotFoundError, constraint_of, explained
from conversations.models import Conversation, Message
from conversations.reads.digests import chain_at
from conversations.services.blobs import has_large_payload
from conversations.services.rows import (
    CALL_RECORD,
    MESSAGE_COLUMNS,
    MESSAGE_RECORD,
    PART_COLUMNS,
    PART_RECORD,
    call_rows,
    generation_row,
    message_rows,
    part_rows,
)
from conversations.vocabulary import BranchReason, Dialect, HeadMoveReason, Role

AT_HEAD = 0
AS_ROOT = -1


@dataclass(frozen=True, slots=True)
class Run:
    """A run of messages, each below the one before, and what is written with it.

    `below` is a seq, AT_HEAD or AS_ROOT. `digests` gives each message's path
    digest where the caller knows it; without, `units` continue the parent's
    (one message only, see `identity.unit_digests`). `generation` maps columns of
    Generation to values; its answer is the run's last message if
    `has_answer`, and its leaf the message before that, else the last message.
    `unanswered` names calls that the received history itself passed over, by
    their message's place in the run and their id.
    """

    conversation_id: UUID
    messages: Sequence[MessageDraft]
    below: int
    actor: Actor
    now: datetime
    head_reason: HeadMoveReason = HeadMoveReason.APPEND
    branch_reason: BranchReason = BranchReason.CONTINUE
    dialect: Dialect | None = None
    digests: Sequence[bytes | None] | None = None
    units: Sequence[bytes] | None = None
    moves_head: bool = True
    generation: Mapping[str, Any] | None = None
    has_answer: bool = False
    unanswered: Collection[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a run went: `first_seq` to `last_seq`, and the attempt's number if one was written."""

    first_seq: int
    last_seq: int
    head_move: int | None
    generation_number: int | None


def place(run: Run) -> Placed:
    """Write the run in one statement; under contention in two. What is deferred is checked before it returns.

    Outside a transaction the statement is one of its own. Raises NotFoundError
    where the conversation or the parent does not exist, StoreError where the
    database refuses, ClientIdUsedError for a client id that is taken.
    """
    with explained(place=f"conversation {run.conversation_id}"):
        try:
            placed = _place(run)
        except IntegrityError as error:
            if constraint_of(error) == "conversations_message_client_id_once":
                raise ClientIdUsedError(run) from error
            raise
    if placed is None:
        raise _no_parent(run)
    return placed


def place_locked(run: Run) -> Placed:
    """Write the run as `place` does, for a caller that holds the transaction and the conversation's lock."""
    with explained(place=f"conversation {run.conversation_id}"):
        placed = _execute(run)
        check_deferred()
    if placed is None:
        raise _no_parent(run)
    return placed


class ClientIdUsedError(Exception):
    """The client id of a message of the run is taken: the run was written before."""


# Refusals that may only mean that the statement's snapshot was older than the lock.
STALE_SNAPSHOT = frozenset(
    {
        "conversations_headmove_times_ascend",
        "conversations_message_pkey",
        "conversations_message_answers_the_one_before",
    }
)


def lock_conversation(conversation_id: UUID) -> None:
    """Wait for every other writer of the conversation; what is read after this is current."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM conversations_conversation WHERE id = %s FOR NO KEY UPDATE", [conversation_id]
        )
        if cursor.rowcount == 0:
            raise NotFoundError(
                "no-conversation", "there is no such conversation", place=str(conversation_id)
            )


def _place(run: Run) -> Placed | None:
    try:
        placed = _place_at_once(run)
    except IntegrityError as error:
        if constraint_of(error) not in STALE_SNAPSHOT:
            raise
        placed = None
    return placed or _place_under_lock(run)


def _place_at_once(run: Run) -> Placed | None:
    # A blob's row must stay locked until the part that names it is written.
    if not connection.in_atomic_block and not has_large_payload(run.messages):
        return _execute(run)
    with transaction.atomic():
        placed = _execute(run)
        check_deferred()
    return placed


def _place_under_lock(run: Run) -> Placed | None:
    with transaction.atomic():
        lock_conversation(run.conversation_id)
        placed = _execute(replace(run, digests=continued_digests(run)) if run.digests is None else run)
        check_deferred()
    return placed


def _no_parent(run: Run) -> NotFoundError:
    return NotFoundError(
        "parent-elsewhere",
        f"message {run.below} is no message of this conversation",
        place=f"conversation {run.conversation_id}",
    )


def continued_digests(run: Run) -> list[bytes]:
    """Compute the path digests from the stored parent; the caller holds the conversation's lock."""
    conversation = Conversation.objects.only("account_id", "head_seq").get(pk=run.conversation_id)
    parent = {AT_HEAD: conversation.head_seq, AS_ROOT: None}.get(run.below, run.below)
    try:
        chain = chain_at(account_id=conversation.account_id, conversation_id=run.conversation_id, seq=parent)
    except Message.DoesNotExist:
        raise _no_parent(run) from None
    return [chain.add(message) for message in run.messages]


def check_deferred() -> None:
    """Ask the deferred constraints now: at commit, nobody would be there to explain them."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")


def _execute(run: Run) -> Placed | None:
    statement = _statement(
        has_generation=run.generation is not None, has_answer=run.has_answer, moves_head=run.moves_head
    )
    parameters: dict[str, Any] = {
        "conversation": run.conversation_id,
        "below": run.below,
        "count": len(run.messages),
        "now": run.now,
        "dialect": run.dialect or "",
        "branch_reason": run.branch_reason,
        "head_reason": run.head_reason,
        "actor_kind": run.actor.kind,
        "actor_id": run.actor.id,
        "units": None if run.units is None else list(run.units),
        # An answer below an answer is one turn with it: then the units alone do not continue the digest.
        "extends_turn": run.digests is None and run.messages[0].role == Role.ASSISTANT,
        "messages": message_rows(run.messages, digests=run.digests),
        "parts": part_rows(run.messages),
        "calls": call_rows(run.messages, unanswered=run.unanswered),
        "generation": None if run.generation is None else generation_row(run.generation),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return None if row is None else Placed(*row)


@lru_cache(maxsize=64)
def _statement(*, has_generation: bool, has_answer: bool, moves_head: bool) -> str:
    """The statement's text: fixed but for what it also writes, so that it stays prepared."""
    generation = GENERATION.format(
        leaf="CASE WHEN %(count)s > 1 THEN t.last_seq - 1 ELSE t.parent_seq END"
        if has_answer
        else "t.last_seq",
        message="t.last_seq" if has_answer else "NULL::int",
    )
    statement = STATEMENT.format(
        next_generation=int(has_generation),
        head=HEAD_SET if moves_head else "",
        head_move=HEAD_MOVE if moves_head else "",
        generation=generation if has_generation else "",
        generation_number="t.generation_number" if has_generation else "NULL::int",
        part_generation="t.generation_number" if has_generation and has_answer else "NULL::int",
        message_columns=MESSAGE_COLUMNS,
        message_record=MESSAGE_RECORD,
        part_columns=PART_COLUMNS,
        part_record=PART_RECORD,
        call_record=CALL_RECORD,
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
), call AS (
    INSERT INTO conversations_toolcall
        (conversation_id, seq, call_id, name, status, arguments, generation_number, requested_at)
    SELECT t.id, t.first_seq + c.place, c.call_id, c.name,
        CASE WHEN c.is_unanswered THEN 'unanswered' ELSE 'requested' END,
        c.arguments::jsonb, CASE WHEN t.first_seq + c.place = t.last_seq THEN {part_generation} END, %(now)s
    FROM taken t, json_to_recordset(%(calls)s::json) AS c({call_record}){head_move}{generation}
)
SELECT first_seq, last_seq, head_move, {generation_number} FROM taken t
"""
