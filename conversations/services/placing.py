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
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from access.actors import Actor
from conversations.drafts import MessageDraft
from conversations.errors import NotFoundError, constraint_of, explained
from conversations.models import Conversation, Message
from conversations.reads.digests import chain_at
from conversations.services.blobs import has_large_payload
from conversations.services.placing_statement import placing_statement
from conversations.services.plans import plan_anew_for_many
from conversations.services.rows import byte_array, call_rows, generation_row, message_rows, part_rows
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
            placed = _place_at_once(run) or _place_under_lock(run)
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
    plan_anew_for_many(len(run.messages))
    has_calls = any(part.is_call for message in run.messages for part in message.parts)
    statement = placing_statement(
        has_generation=run.generation is not None,
        has_answer=run.has_answer,
        moves_head=run.moves_head,
        has_calls=has_calls,
    )
    parameters: dict[str, Any] = {
        "conversation": run.conversation_id,
        "below": run.below,
        "count": len(run.messages),
        "now": run.now,
        "dialect": run.dialect.value if run.dialect else "",
        "branch_reason": run.branch_reason.value,
        "head_reason": run.head_reason.value,
        "actor_kind": run.actor.kind.value,
        "actor_id": run.actor.id,
        "units": None if run.units is None else byte_array(run.units),
        # An answer below an answer is one turn with it: then the units alone do not continue the digest.
        "extends_turn": run.digests is None and run.messages[0].role == Role.ASSISTANT,
        "messages": message_rows(run.messages, digests=run.digests),
        "parts": part_rows(run.messages),
        "calls": call_rows(run.messages, unanswered=run.unanswered) if has_calls else None,
        "generation": None if run.generation is None else generation_row(run.generation),
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return None if row is None else Placed(*row)
