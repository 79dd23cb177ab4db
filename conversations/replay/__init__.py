"""Giving back what was sent, and composing what would be sent next. The design is in docs/replay.md."""

from conversations.models import Generation, Message
from conversations.replay.bodies import (
    DamagedError,
    NotReplayableError,
    ReplayError,
    request_body_of,
)
from conversations.replay.next_bodies import NextBody, next_body_at
from conversations.vocabulary import Dialect

__all__ = [
    "DamagedError",
    "NextBody",
    "NotReplayableError",
    "ReplayError",
    "next_body",
    "next_body_at",
    "request_body",
    "request_body_of",
]


def request_body(generation: Generation) -> bytes:
    """Return the exact bytes that were sent for an attempt; see `bodies.request_body_of`."""
    return request_body_of(conversation_id=generation.conversation_id, number=generation.number)


def next_body(leaf: Message, dialect: Dialect | None = None, *, model: str = "") -> NextBody:
    """Return the body that would be sent next from a leaf; see `next_bodies.next_body_at`."""
    return next_body_at(conversation_id=leaf.conversation_id, leaf_seq=leaf.seq, dialect=dialect, model=model)
