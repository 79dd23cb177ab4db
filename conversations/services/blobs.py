"""Large payloads: the file first, then its row, so that no row ever names a file that is not there."""

import hashlib
import uuid
from collections.abc import Iterable

from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages
from django.db import connection
from django.db.backends.utils import CursorWrapper

from conversations.drafts import MessageDraft, PartDraft

LARGE = 32 * 1024


def blob_storage() -> Storage:
    return storages["blobs"]


def has_large_payload(messages: Iterable[MessageDraft]) -> bool:
    return any(
        part.payload is not None and len(part.payload) > LARGE
        for message in messages
        for part in message.parts
    )


def keep_large_payload(part: PartDraft) -> int | None:
    """Put a payload above 32 KB into blob storage; return the blob's id, or None for a small one."""
    if part.payload is None or len(part.payload) <= LARGE:
        return None
    return keep_blob(payload=part.payload, media_type=part.media_type)


def keep_blob(*, payload: bytes, media_type: str) -> int:
    """Store the bytes once per digest and return the id of their row.

    The row is locked as a part that refers to it would lock it, so that a sweep
    of unused blobs cannot take it before this transaction's parts are written.
    """
    digest = hashlib.sha256(payload).digest()
    with connection.cursor() as cursor:
        found = _find(cursor, digest)
        if found is not None:
            return found
        key = uuid.uuid4().hex
        name = blob_storage().save(f"{key[:2]}/{key}", ContentFile(payload))
        cursor.execute(
            "INSERT INTO conversations_blob (sha256, size, media_type, storage_key, created_at)"
            " VALUES (%s, %s, %s, %s, statement_timestamp()) ON CONFLICT (sha256) DO NOTHING RETURNING id",
            [digest, len(payload), media_type, name],
        )
        row = cursor.fetchone()
        if row is not None:
            return int(row[0])
        # Another writer of the same bytes was first; its file serves.
        blob_storage().delete(name)
        found = _find(cursor, digest)
    if found is None:
        raise LookupError(f"blob {digest.hex()} vanished while it was stored")
    return found


def read_blob(*, storage_key: str) -> bytes:
    with blob_storage().open(storage_key) as file:
        return bytes(file.read())


def _find(cursor: CursorWrapper, digest: bytes) -> int | None:
    cursor.execute("SELECT id FROM conversations_blob WHERE sha256 = %s FOR KEY SHARE", [digest])
    row = cursor.fetchone()
    return None if row is None else int(row[0])
