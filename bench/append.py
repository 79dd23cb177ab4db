"""Appending a message: one row of a flat table, and all that the product writes with it, in turn.

Then as many as eight writers get done in a second, each a process of its own, on
conversations of their own; and as many on one conversation.
"""

import multiprocessing
import os
import secrets
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from uuid import UUID

from bench import corpus, plans, timing
from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import PartType, Role

ROUNDS = 300
WRITERS = 8
TITLE = "written by the append measurement"
SECONDS = 4
MOST_TIMES_FLAT = 3.0
LEAST_A_SECOND = 1500
WORDS = "The order left our warehouse this morning and should be with you on Thursday. " * 5


def main(arguments: list[str]) -> int:
    corpus.ensure(corpus.wanted(arguments))
    try:
        return _measure(arguments)
    finally:
        _forget()


def _measure(arguments: list[str]) -> int:
    conversations = [_fresh() for _ in range(20)]
    if "--plans" in arguments:
        return plans.show({"append": lambda: _append(conversations[0])})
    timing.pin()
    found = timing.in_turn(
        {
            "flat row": lambda n: _flat_row(conversations[n]),
            "append": lambda n: _append(conversations[n]),
            "append with attempt": lambda n: _append_with_attempt(conversations[n]),
        },
        choices=len(conversations),
        rounds=ROUNDS,
        is_read=False,
    )
    timing.table(found, beside=("flat row",))
    is_quick = timing.ratio_within(found, "append with attempt", "flat row", MOST_TIMES_FLAT)
    timing.unpin()
    many = _rate([_fresh() for _ in range(WRITERS)])
    one = _rate([_fresh()] * WRITERS)
    sys.stdout.write(f"  {WRITERS} writers on one conversation: {one:.0f} appends a second\n")
    is_many = timing.at_least(f"{WRITERS} writers", many, LEAST_A_SECOND, "appends a second")
    return 0 if is_quick and is_many else 1


def _fresh() -> UUID:
    from conversations.models import Account
    from conversations.services.starting import start_conversation

    account = Account.objects.filter(realm__slug="bench").values_list("pk", flat=True)[0]
    return start_conversation(account_id=account, now=datetime.now(UTC), title=TITLE).pk


def _forget() -> None:
    """Leave the corpus as it was: other measurements weigh it."""
    from conversations.models import Conversation

    Conversation.objects.filter(title=TITLE).delete()
    corpus.settle()


def _flat_row(conversation_id: UUID) -> None:
    timing.plain_connection().execute(
        "INSERT INTO bench.flat_text (chat_id, role, content) VALUES (%s, 'user', %s)",
        [conversation_id, WORDS],
        prepare=True,
    )


def _message() -> MessageDraft:
    """A message of three parts with an id of its own."""
    parts = [PartDraft(type=PartType.TEXT, text=text) for text in (WORDS[:200], WORDS[:90], WORDS[:110])]
    return MessageDraft(role=Role.USER, parts=parts, client_message_id=secrets.token_hex(8))


def _append(conversation_id: UUID) -> None:
    from access.actors import Actor, ActorKind
    from conversations.services.appending import append_message

    append_message(
        conversation_id=conversation_id,
        message=_message(),
        actor=Actor(ActorKind.APPLICATION, "7"),
        now=datetime.now(UTC),
    )


def _append_with_attempt(conversation_id: UUID) -> None:
    """The same, with the row of the attempt that made it: what recording writes for an answer."""
    from access.actors import Actor, ActorKind
    from conversations.identity import unit_digests
    from conversations.services.placing import AT_HEAD, Run, place

    message, now = _message(), datetime.now(UTC)
    place(
        Run(
            conversation_id=conversation_id,
            messages=[message],
            below=AT_HEAD,
            actor=Actor(ActorKind.APPLICATION, "7"),
            now=now,
            units=unit_digests(message),
            generation={
                "request_id": secrets.token_hex(8),
                "attempt": 1,
                "provider": "anthropic",
                "dialect": "anthropic_messages",
                "requested_model": "claude-sonnet-4-5",
                "status": "complete",
                "created_at": now,
                "finished_at": now,
            },
        )
    )


def _rate(conversations: list[UUID]) -> float:
    """Let a process for each conversation append for some seconds; return appends a second, of all."""
    from django.db import connections

    connections.close_all()
    context = multiprocessing.get_context("fork")
    start = context.Event()
    done = context.Queue()
    writers = [
        context.Process(target=_write, args=(conversation, start, done)) for conversation in conversations
    ]
    for writer in writers:
        writer.start()
    for _ in writers:
        done.get()  # Connected and warm.
    start.set()
    total = sum(done.get() for _ in writers)
    for writer in writers:
        writer.join()
    return float(total / SECONDS)


def _write(conversation: UUID, start: Event, done: Queue) -> None:
    for _ in range(10):
        _append(conversation)
    done.put(0)
    start.wait()
    done.put(_count_until(time.monotonic() + SECONDS, lambda: _append(conversation)))
    done.close()
    done.join_thread()
    os._exit(0)  # The parent's clean-up is not this process's to run.


def _count_until(end: float, write: Callable[[], None]) -> int:
    count = 0
    while time.monotonic() < end:
        write()
        count += 1
    return count
