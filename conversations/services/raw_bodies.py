"""Raw bodies: what crossed the wire, kept whole and compressed, for whose conversation and account."""

import hashlib
from datetime import datetime
from uuid import UUID

import zstandard

from conversations.ids import mint_id
from conversations.models import RawBody
from conversations.vocabulary import RawClass

_LEVEL = 9


def keep_raw_body(
    *,
    body: bytes,
    raw_class: RawClass,
    now: datetime,
    conversation_id: UUID | None = None,
    account_id: UUID | None = None,
    place: str = "",
    trouble: str = "",
) -> UUID:
    """Write the bytes and return their id."""
    raw = RawBody(
        id=mint_id(now),
        raw_class=raw_class,
        conversation_id=conversation_id,
        account_id=account_id,
        sha256=hashlib.sha256(body).digest(),
        size=len(body),
        compressed=zstandard.ZstdCompressor(level=_LEVEL).compress(body),
        place=place,
        trouble=trouble[:255],
        created_at=now,
    )
    raw.save(force_insert=True)
    return raw.id


def open_raw_body(raw: RawBody) -> bytes:
    """Return the bytes, checked against the digest they were kept under; ValueError where they differ."""
    body = zstandard.ZstdDecompressor().decompress(bytes(raw.compressed), max_output_size=max(raw.size, 1))
    if len(body) != raw.size or hashlib.sha256(body).digest() != bytes(raw.sha256):
        raise ValueError(f"raw body {raw.id} is damaged")
    return body
