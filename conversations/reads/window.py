"""A stretch of a path as a page shows it: messages and their parts, with or without their bytes.

Without bytes, only their sizes leave the database. Long texts come cut: a page
shows their beginning and leads to the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection

from conversations.archive.layout import ArchivedPart
from conversations.archive.opening import ArchiveError, open_archive
from conversations.services.blobs import LARGE
from conversations.vocabulary import PartBytes

LONGEST_SHOWN = 8_000


@dataclass(slots=True)
class ShownPart:
    """One part. `text` and `payload` are None where withheld, lost, or too large for a row.

    `characters` and `size` are of the whole, also where less was read. Of bytes in the archive
    they are known only once it was opened; `archive_trouble` says why it could not be.
    """

    seq: int
    ordinal: int
    type: str
    provider_type: str
    text: str | None
    payload: bytes | None
    shell: str | None
    characters: int
    size: int
    is_text_copy: bool
    bytes_state: str
    media_type: str
    blob_id: int | None
    tool_call_id: str | None
    tool_name: str | None
    is_minted_id: bool
    answers_seq: int | None
    status: str | None
    orphan: bool
    archive_trouble: str = ""
    is_from_archive: bool = False

    @property
    def is_cut(self) -> bool:
        return self.text is not None and len(self.text) < self.characters


@dataclass(slots=True)
class ShownMessage:
    seq: int
    parent_seq: int | None
    answers_seq: int | None
    role: str
    provider_role: str
    dialect: str
    branch_reason: str
    is_hidden: bool
    token_count: int | None
    occurred_at: datetime | None
    created_at: datetime
    parts: list[ShownPart] = field(default_factory=list)

    @property
    def at(self) -> datetime:
        return self.occurred_at or self.created_at


@dataclass(frozen=True, slots=True)
class CallLife:
    status: str
    error_code: str
    duration_ms: int | None


def read_window(*, conversation_id: UUID, seqs: Sequence[int], with_bytes: bool) -> dict[int, ShownMessage]:
    """Return the messages named with their parts, by number; two queries.

    A third, and the archive's file, where bytes are archived and are asked for.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MESSAGES, [conversation_id, list(seqs)])
        messages = {row[0]: ShownMessage(*row) for row in cursor.fetchall()}
        cursor.execute(
            _PARTS.format(bytes=_BYTES if with_bytes else _NO_BYTES), [conversation_id, list(seqs)]
        )
        for row in cursor.fetchall():
            part = ShownPart(*row)
            if part.payload is not None:
                part.payload = bytes(part.payload)
            messages[part.seq].parts.append(part)
    archived = [
        part
        for message in messages.values()
        for part in message.parts
        if part.bytes_state == PartBytes.ARCHIVED
    ]
    if archived and with_bytes:
        _fill_from_archive(conversation_id, archived)
    return messages


def read_call_lives(*, conversation_id: UUID, seqs: Sequence[int]) -> dict[tuple[int, str], CallLife]:
    """Return what became of the calls of these messages, by message and call id."""
    with connection.cursor() as cursor:
        cursor.execute(_CALLS, [conversation_id, list(seqs)])
        return {(row[0], row[1]): CallLife(*row[2:]) for row in cursor.fetchall()}


def _fill_from_archive(conversation_id: UUID, archived: Sequence[ShownPart]) -> None:
    try:
        content = open_archive(conversation_id=conversation_id)
    except ArchiveError as error:
        for part in archived:
            part.archive_trouble = error.explanation
        return
    for part in archived:
        kept = content.parts.get((part.seq, part.ordinal))
        if kept is not None:
            _fill(part, kept)


def _fill(part: ShownPart, kept: ArchivedPart) -> None:
    """Show the bytes as if their row held them: long texts cut, large payloads left where they are."""
    part.is_from_archive, part.bytes_state = True, kept.state.value
    part.shell, part.is_text_copy = kept.shell, kept.is_text_copy
    if kept.text is not None:
        part.text, part.characters = kept.text[:LONGEST_SHOWN], len(kept.text)
        part.size = len(kept.text.encode())
    if kept.payload is not None:
        part.size = len(kept.payload)
        part.payload = kept.payload if part.size <= LARGE else None


_MESSAGES = """
SELECT seq, parent_seq, answers_seq, role, provider_role, dialect, branch_reason, is_hidden, token_count,
    occurred_at, created_at
FROM conversations_message WHERE conversation_id = %s AND seq = ANY(%s) ORDER BY seq
"""
_PARTS = """
SELECT p.seq, p.ordinal, p.type, p.provider_type, {bytes},
    coalesce(length(p.text), 0), coalesce(octet_length(p.payload), b.size, octet_length(p.text), 0),
    p.is_text_copy, p.bytes_state, coalesce(nullif(p.media_type, ''), b.media_type, ''), p.blob_id,
    p.tool_call_id, p.tool_name, p.is_minted_id, p.answers_seq, p.status, p.orphan
FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id
WHERE p.conversation_id = %s AND p.seq = ANY(%s) ORDER BY p.seq, p.ordinal
"""
_BYTES = f"left(p.text, {LONGEST_SHOWN}), p.payload, p.shell"
_NO_BYTES = "NULL, NULL, NULL"
_CALLS = """
SELECT seq, call_id, status, error_code, duration_ms
FROM conversations_toolcall WHERE conversation_id = %s AND seq = ANY(%s)
"""
