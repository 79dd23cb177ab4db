"""The exact bytes that were sent for a generation, or why they cannot be had any more."""

import hashlib
from collections.abc import Sequence
from uuid import UUID

import zstandard

from conversations.archive.opening import ArchiveError
from conversations.reads.path import StoredMessage
from conversations.replay.patch import PatchError, apply_patch
from conversations.replay.renderers import NUMBERS, BodyPieces, render_body
from conversations.replay.stored import PathMessage, StoredBody, read_stored_body
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


def request_body_of(*, conversation_id: UUID, number: int) -> bytes:
    """Return the request body of attempt `number`, byte for byte as it was sent.

    Checked against the digest taken when it was recorded. Raises
    NotReplayableError where something it was made of is gone, naming it;
    DamagedError where the bytes differ.
    """
    place = f"conversation {conversation_id}, attempt {number}"
    try:
        stored = read_stored_body(conversation_id=conversation_id, number=number)
    except FileNotFoundError as error:
        raise DamagedError("a large block's file is not in blob storage", place=place) from error
    except ArchiveError as error:
        raise DamagedError(error.explanation, place=place) from error
    if stored is None:
        raise NotReplayableError("there is no such attempt", place=place)
    if stored.proof == BodyProof.VERBATIM:
        body = _verbatim(stored, place)
    elif stored.proof in (BodyProof.EXACT, BodyProof.PATCHED):
        body = _rebuilt(stored, place)
    elif stored.proof == BodyProof.LOST:
        raise NotReplayableError("bytes that the body was made of were taken away", place=place)
    else:
        raise NotReplayableError("no request body was recorded", place=place)
    if not stored.is_redacted and hashlib.sha256(body).digest() != stored.sha256:
        if stored.leaf_seq is None:
            raise NotReplayableError("the messages that the body held have been purged", place=place)
        raise DamagedError("the rebuilt body is not the one that was sent", place=place)
    return body


def _verbatim(stored: StoredBody, place: str) -> bytes:
    if stored.verbatim is None or stored.size is None:
        raise NotReplayableError("the body was kept whole, and its copy has been purged", place=place)
    try:
        return zstandard.ZstdDecompressor().decompress(stored.verbatim, max_output_size=max(stored.size, 1))
    except zstandard.ZstdError as error:
        raise DamagedError(f"the body that was kept whole cannot be opened: {error}", place=place) from error


def _rebuilt(stored: StoredBody, place: str) -> bytes:
    if stored.renderer not in NUMBERS:
        raise DamagedError(f"this program has no renderer number {stored.renderer}", place=place)
    if stored.envelope is None or stored.style is None or stored.size is None:
        raise NotReplayableError("the body's envelope has been purged", place=place)
    refuse_lost(stored.messages, place)
    pieces = BodyPieces(
        dialect=Dialect(stored.dialect),
        style=style_of(stored.style),
        envelope=stored.envelope,
        preamble=stored.preamble,
        leading=stored.leading,
        tools=stored.tools,
    )
    rendered = render_body(pieces, stored.messages, renderer=stored.renderer)
    if stored.patch is None:
        return rendered
    try:
        return apply_patch(rendered=rendered, patch=stored.patch, size=stored.size)
    except PatchError as error:
        raise DamagedError(str(error), place=place) from error


def refuse_lost(messages: Sequence[PathMessage | StoredMessage], place: str) -> None:
    for message in messages:
        if message.lost_parts and isinstance(message, StoredMessage) and message.lost_why:
            raise DamagedError(message.lost_why, place=place)
        if message.lost_parts:
            blocks = ", ".join(str(ordinal) for ordinal in message.lost_parts)
            raise NotReplayableError(
                f"the bytes of message {message.seq}, block {blocks} are gone", place=place
            )
