"""Bytes into an archive file and back, one conversation at a time.

The caller holds the locks of account and conversation; whoever archives has asked for holds. A file
is written and read back before any row loses its bytes, and goes after the row that names it: a
kill in between leaves a file too many, never bytes too few.
"""

import hashlib
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile
from django.db import connection

from conversations.archive.layout import ArchivedBytes, ArchivedPart, pack
from conversations.archive.opening import ArchiveError, open_archive
from conversations.services.blobs import LARGE, blob_storage, keep_blob, read_blob
from conversations.vocabulary import PartBytes


@dataclass(frozen=True, slots=True)
class Archived:
    """How many parts went into the file, how many bytes they had, and how many the file has."""

    parts: int = 0
    byte_count: int = 0
    file_size: int = 0


_BYTES = """
SELECT p.seq, p.ordinal, p.bytes_state, p.text, p.payload, p.shell, p.is_text_copy, b.storage_key
FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id
WHERE p.conversation_id = %s AND p.bytes_state IN ('present', 'redacted') ORDER BY p.seq, p.ordinal
"""
_SHELLS = """
SELECT m.seq, m.shell FROM conversations_message m
WHERE m.conversation_id = %s AND m.shell IS NOT NULL AND m.seq = ANY(%s)
"""
_ROW = """
INSERT INTO conversations_archive (conversation_id, storage_key, sha256, size, part_count, byte_count,
    next_seq, content_sha256, archived_at)
SELECT c.id, %(key)s, %(sha256)s, %(size)s, %(parts)s, %(bytes)s, c.next_seq,
    conversations_content_digest(c.id, c.next_seq), %(now)s
FROM conversations_conversation c WHERE c.id = %(id)s
"""
_EMPTY_PARTS = """
UPDATE conversations_messagepart SET text = NULL, payload = NULL, shell = NULL, blob_id = NULL,
    is_text_copy = false, bytes_state = 'archived'
WHERE conversation_id = %s AND bytes_state IN ('present', 'redacted')
"""
_EMPTY_SHELLS = """
UPDATE conversations_message SET shell = NULL
WHERE conversation_id = %s AND shell IS NOT NULL AND seq = ANY(%s)
"""


def archive_bytes(*, conversation_id: UUID, now: datetime, is_dry_run: bool = False) -> Archived:
    """Put all bytes of the conversation's parts into one new file, those of an older archive with them.

    Raises ArchiveError where the older archive, or the file of a large payload, cannot be opened;
    then the caller's savepoint is to be rolled back. A dry run writes no file.
    """
    if _has_archive(conversation_id):
        return_bytes(conversation_id=conversation_id)
    content = _read(conversation_id)
    if not content.parts:
        return Archived()
    file = pack(conversation_id=conversation_id, content=content)
    key = uuid.uuid4().hex
    name = f"{key[:2]}/{key}"
    if not is_dry_run:
        name = _write(name, file, conversation_id)
    seqs = sorted({seq for seq, _ in content.parts})
    counted = Archived(len(content.parts), _size(content), len(file))
    with connection.cursor() as cursor:
        cursor.execute(
            _ROW,
            {
                "id": conversation_id,
                "key": name,
                "sha256": hashlib.sha256(file).digest(),
                "size": len(file),
                "parts": counted.parts,
                "bytes": counted.byte_count,
                "now": now,
            },
        )
        cursor.execute(_EMPTY_PARTS, [conversation_id])
        if cursor.rowcount != counted.parts:
            raise ArchiveError(
                "archive-raced", "parts came while they were read", place=f"conversation {conversation_id}"
            )
        cursor.execute(_EMPTY_SHELLS, [conversation_id, seqs])
    return counted


_RETURN_PART = """
UPDATE conversations_messagepart SET text = %s, payload = %s, shell = %s, blob_id = %s, is_text_copy = %s,
    bytes_state = %s
WHERE conversation_id = %s AND seq = %s AND ordinal = %s AND bytes_state = 'archived'
"""


def return_bytes(*, conversation_id: UUID) -> int:
    """Put the archived bytes back into their rows and let the archive go; return how many parts have theirs.

    The database takes them only whole: raises ArchiveError where the file cannot be opened.
    """
    content = open_archive(conversation_id=conversation_id)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_archive SET is_returning = true WHERE conversation_id = %s",
            [conversation_id],
        )
        cursor.executemany(
            _RETURN_PART,
            [_row(conversation_id, seq, ordinal, part) for (seq, ordinal), part in content.parts.items()],
        )
        cursor.executemany(
            "UPDATE conversations_message SET shell = %s WHERE conversation_id = %s AND seq = %s",
            [[shell, conversation_id, seq] for seq, shell in content.shells.items()],
        )
        cursor.execute("DELETE FROM conversations_archive WHERE conversation_id = %s", [conversation_id])
    return len(content.parts)


def drop_archives(*, conversation_ids: list[UUID]) -> int:
    """Let archives go that no part needs any more; their files go after them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM conversations_archive a WHERE a.conversation_id = ANY(%s) AND NOT EXISTS ("
            "SELECT FROM conversations_messagepart p WHERE p.conversation_id = a.conversation_id"
            " AND p.bytes_state = 'archived')",
            [conversation_ids],
        )
        return cursor.rowcount


def archived_among(conversation_ids: list[UUID]) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conversation_id FROM conversations_archive WHERE conversation_id = ANY(%s) ORDER BY 1",
            [conversation_ids],
        )
        return [row[0] for row in cursor.fetchall()]


def _has_archive(conversation_id: UUID) -> bool:
    return bool(archived_among([conversation_id]))


def _read(conversation_id: UUID) -> ArchivedBytes:
    content = ArchivedBytes()
    with connection.cursor() as cursor:
        cursor.execute(_BYTES, [conversation_id])
        for seq, ordinal, state, text, payload, shell, is_text_copy, storage_key in cursor.fetchall():
            if storage_key is not None:
                payload = _blob(storage_key, conversation_id)
            content.parts[seq, ordinal] = ArchivedPart(
                PartBytes(state), text, None if payload is None else bytes(payload), shell, is_text_copy
            )
        cursor.execute(_SHELLS, [conversation_id, sorted({seq for seq, _ in content.parts})])
        content.shells = dict(cursor.fetchall())
    return content


def _blob(storage_key: str, conversation_id: UUID) -> bytes:
    try:
        return read_blob(storage_key=storage_key)
    except OSError as error:
        raise ArchiveError(
            "blob-missing",
            f"the file {storage_key} of a large payload is not in blob storage",
            place=f"conversation {conversation_id}",
        ) from error


def _write(name: str, file: bytes, conversation_id: UUID) -> str:
    """Write the file and read it back: only then may a row lose what is in it."""
    name = blob_storage().save(name, ContentFile(file))
    if read_blob(storage_key=name) != file:
        blob_storage().delete(name)
        raise ArchiveError(
            "archive-damaged",
            f"blob storage gave back other bytes for {name} than were written",
            place=f"conversation {conversation_id}",
        )
    return name


def _size(content: ArchivedBytes) -> int:
    parts = sum(
        len((part.text or "").encode()) + len(part.payload or b"") + len((part.shell or "").encode())
        for part in content.parts.values()
    )
    return parts + sum(len(shell.encode()) for shell in content.shells.values())


def _row(conversation_id: UUID, seq: int, ordinal: int, part: ArchivedPart) -> list[Any]:
    payload, blob_id = part.payload, None
    if payload is not None and len(payload) > LARGE:
        blob_id, payload = keep_blob(payload=payload, media_type=""), None
    return [
        part.text,
        payload,
        part.shell,
        blob_id,
        part.is_text_copy,
        part.state.value,
        conversation_id,
        seq,
        ordinal,
    ]
