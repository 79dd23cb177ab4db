"""The exact bytes that were sent for a generation, or why they cannot be had any more."""

import hashlib
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import zstandard
from django.db import connection

from conversations.reads.path import StoredMessage, read_path
from conversations.replay.patch import PatchError, apply_patch
from conversations.replay.renderers import NUMBERS, BodyPieces, render_body
from conversations.replay.styles import style_of
from conversations.vocabulary import BodyProof, Dialect


class ReplayError(Exception):
    """A body that cannot be given back; `place` names the attempt, the message and the block."""

    def __init__(self, reason: str, *, place: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.place = place


class NotReplayableError(ReplayError):
    """Bytes that the body was made of were stripped, redacted, archived, erased or purged."""


class DamagedError(ReplayError):
    """Everything is there, but it does not give the bytes that were recorded."""


@dataclass(frozen=True, slots=True)
class StoredBody:
    """What a generation keeps about its body."""

    leaf_seq: int | None
    base_seq: int | None
    dialect: str
    proof: str
    style: int | None
    renderer: int | None
    sha256: bytes | None
    size: int | None
    patch: bytes | None
    is_redacted: bool
    preamble: bytes | None
    leading: bytes | None
    tools: bytes | None
    envelope: bytes | None
    verbatim: bytes | None


def request_body_of(*, conversation_id: UUID, number: int) -> bytes:
    """Return the request body of attempt `number`, byte for byte as it was sent.

    Checked against the digest taken when it was recorded. Raises
    NotReplayableError where something it was made of is gone, naming it;
    DamagedError where the bytes differ.
    """
    place = f"conversation {conversation_id}, attempt {number}"
    stored = read_stored_body(conversation_id=conversation_id, number=number)
    if stored is None:
        raise NotReplayableError("there is no such attempt", place=place)
    if stored.proof == BodyProof.VERBATIM:
        body = _verbatim(stored, place)
    elif stored.proof in (BodyProof.EXACT, BodyProof.PATCHED):
        body = _rebuilt(stored, conversation_id, place)
    elif stored.proof == BodyProof.LOST:
        raise NotReplayableError("bytes that the body was made of were taken away", place=place)
    else:
        raise NotReplayableError("no request body was recorded", place=place)
    if not stored.is_redacted and hashlib.sha256(body).digest() != stored.sha256:
        raise DamagedError("the rebuilt body is not the one that was sent", place=place)
    return body


def read_stored_body(*, conversation_id: UUID, number: int) -> StoredBody | None:
    with connection.cursor() as cursor:
        cursor.execute(STORED_BODY, [conversation_id, number])
        row = cursor.fetchone()
    if row is None:
        return None
    values: list[Any] = [bytes(value) if isinstance(value, memoryview) else value for value in row]
    return StoredBody(*values)


STORED_BODY = """
SELECT g.leaf_seq, g.base_seq, g.dialect, g.body_proof, g.body_style, g.body_renderer, g.body_sha256,
    g.body_size, g.body_patch, g.is_redacted, p.body, l.body, t.body, e.body, r.compressed
FROM conversations_generation g
LEFT JOIN conversations_fragment p ON p.id = g.preamble_id
LEFT JOIN conversations_fragment l ON l.id = g.leading_id
LEFT JOIN conversations_fragment t ON t.id = g.tools_id
LEFT JOIN conversations_fragment e ON e.id = g.envelope_id
LEFT JOIN conversations_rawbody r ON r.id = g.raw_request_id
WHERE g.conversation_id = %s AND g.number = %s
"""


def _verbatim(stored: StoredBody, place: str) -> bytes:
    if stored.verbatim is None or stored.size is None:
        raise NotReplayableError("the body was kept whole, and its copy has been purged", place=place)
    return zstandard.ZstdDecompressor().decompress(stored.verbatim, max_output_size=max(stored.size, 1))


def _rebuilt(stored: StoredBody, conversation_id: UUID, place: str) -> bytes:
    if stored.renderer not in NUMBERS:
        raise DamagedError(f"this program has no renderer number {stored.renderer}", place=place)
    if stored.envelope is None or stored.style is None or stored.size is None:
        raise NotReplayableError("the body's envelope has been purged", place=place)
    path = (
        []
        if stored.leaf_seq is None
        else read_path(conversation_id=conversation_id, leaf_seq=stored.leaf_seq)
    )
    messages = [message for message in path if message.seq > (stored.base_seq or 0)]
    refuse_lost(messages, place)
    pieces = BodyPieces(
        dialect=Dialect(stored.dialect),
        style=style_of(stored.style),
        envelope=stored.envelope,
        preamble=stored.preamble,
        leading=stored.leading,
        tools=stored.tools,
    )
    rendered = render_body(pieces, [message.draft for message in messages], renderer=stored.renderer)
    if stored.patch is None:
        return rendered
    try:
        return apply_patch(rendered=rendered, patch=stored.patch, size=stored.size)
    except PatchError as error:
        raise DamagedError(str(error), place=place) from error


def refuse_lost(messages: list[StoredMessage], place: str) -> None:
    for message in messages:
        if message.lost_parts:
            blocks = ", ".join(str(ordinal) for ordinal in message.lost_parts)
            raise NotReplayableError(
                f"the bytes of message {message.seq}, block {blocks} are gone", place=place
            )
