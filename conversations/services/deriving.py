"""Summaries and chunks: written with what they were made from, gone when that is gone."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from conversations.archive.opening import open_archive
from conversations.errors import StoreError, explained
from conversations.ids import mint_id
from conversations.models import Chunk, MessagePart, Summary
from conversations.redaction.drafts import cut_words
from conversations.vocabulary import PartBytes


@dataclass(frozen=True, slots=True)
class Citation:
    """The exact words that a chunk names, or why they cannot be given (`reason`, a stable code)."""

    words: str | None
    reason: str = ""


@transaction.atomic
def write_summary(
    *,
    conversation_id: UUID,
    from_seq: int,
    to_seq: int,
    text: str,
    prompt_version: str,
    now: datetime,
    model: str = "",
    token_count: int | None = None,
    is_pinned: bool = False,
) -> Summary:
    """Store a summary of the stretch from one message down to another of the same path.

    A pinned one stands in front of every context that it covers (see
    `replay.context`). A message of the stretch that goes takes the summary
    along; one that loses bytes empties it. Secrets that the account's switch names are cut out.
    """
    with explained(place=f"conversation {conversation_id}, messages {from_seq} to {to_seq}"):
        return Summary.objects.create(
            id=mint_id(now),
            conversation_id=conversation_id,
            from_seq=from_seq,
            to_seq=to_seq,
            text=cut_words(text, conversation_id=conversation_id),
            token_count=token_count,
            model=model,
            prompt_version=prompt_version,
            is_pinned=is_pinned,
            created_at=now,
        )


@transaction.atomic
def cut_chunks(
    *,
    conversation_id: UUID,
    seq: int,
    ordinal: int,
    spans: Sequence[tuple[int, int]],
    chunking_version: str,
    now: datetime,
) -> list[Chunk]:
    """Store spans of one part's text, as half-open byte offsets into its UTF-8; each once per version.

    A span that leaves the text, or divides a character, is refused.
    """
    place = f"conversation {conversation_id}, message {seq}, part {ordinal}"
    said = _bytes_of(conversation_id=conversation_id, seq=seq, ordinal=ordinal)
    if said is None:
        raise StoreError("no-text", "the part has no text to cut", place=place)
    chunks = []
    for start, end in spans:
        if _words(said, start, end) is None:
            raise StoreError("span-outside", f"bytes {start} to {end} are no words of the text", place=place)
        chunks.append(
            Chunk(
                id=mint_id(now),
                conversation_id=conversation_id,
                seq=seq,
                ordinal=ordinal,
                byte_start=start,
                byte_end=end,
                sha256=hashlib.sha256(said[start:end]).digest(),
                chunking_version=chunking_version,
                created_at=now,
            )
        )
    Chunk.objects.bulk_create(chunks, ignore_conflicts=True)
    return list(
        Chunk.objects.filter(
            conversation_id=conversation_id, seq=seq, ordinal=ordinal, chunking_version=chunking_version
        ).order_by("byte_start", "byte_end")
    )


def resolve_citation(*, chunk_id: UUID) -> Citation:
    """Give the exact words of a chunk, checked against the digest taken when it was cut.

    A part that loses its bytes takes its chunks along, so the chunk itself is gone then.
    """
    chunk = Chunk.objects.filter(pk=chunk_id).first()
    if chunk is None:
        return Citation(words=None, reason="chunk-gone")
    said = _bytes_of(conversation_id=chunk.conversation_id, seq=chunk.seq, ordinal=chunk.ordinal)
    words = None if said is None else _words(said, chunk.byte_start, chunk.byte_end)
    if said is None or words is None:
        return Citation(words=None, reason="span-outside")
    if hashlib.sha256(said[chunk.byte_start : chunk.byte_end]).digest() != bytes(chunk.sha256):
        return Citation(words=None, reason="words-changed")
    return Citation(words=words)


def _bytes_of(*, conversation_id: UUID, seq: int, ordinal: int) -> bytes | None:
    row = (
        MessagePart.objects.filter(conversation_id=conversation_id, seq=seq, ordinal=ordinal)
        .values_list("text", "bytes_state")
        .first()
    )
    if row is None:
        return None
    text, bytes_state = row
    if bytes_state == PartBytes.ARCHIVED:
        kept = open_archive(conversation_id=conversation_id).parts.get((seq, ordinal))
        text = None if kept is None else kept.text
    return None if text is None else text.encode()


def _words(said: bytes, start: int, end: int) -> str | None:
    if not 0 <= start < end <= len(said):
        return None
    try:
        return said[start:end].decode()
    except UnicodeDecodeError:
        return None
