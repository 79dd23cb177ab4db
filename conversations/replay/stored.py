"""All that a body is rebuilt from, in one row of the database.

The attempt, its fragments, the messages and their parts come in one round trip,
and of these only what is needed to write a body: a list for each column. A row
for each of a hundred parts would cost the driver more than the bytes in them.
Only where the conversation has a fork the path must be walked first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from conversations.archive.layout import ArchivedBytes
from conversations.archive.opening import open_archive
from conversations.models import Blob
from conversations.reads.path import path_seqs
from conversations.services.blobs import read_blob
from conversations.vocabulary import Role
from conversations.wire.render import Block


@dataclass(slots=True)
class PathMessage:
    """A message as far as rendering needs it; `lost_parts` are the ordinals whose bytes are gone."""

    seq: int
    role: Role
    provider_role: str
    shell: str | None
    parts: list[Block] = field(default_factory=list)
    lost_parts: list[int] = field(default_factory=list)


@dataclass(slots=True)
class StoredBody:
    """What an attempt keeps about its body, and the messages that the body holds."""

    dialect: str
    proof: str
    style: int | None
    renderer: int | None
    size: int | None
    leaf_seq: int | None
    is_redacted: bool
    sha256: bytes | None
    patch: bytes | None
    preamble: bytes | None
    leading: bytes | None
    tools: bytes | None
    envelope: bytes | None
    verbatim: bytes | None
    messages: list[PathMessage] = field(default_factory=list)


def read_stored_body(*, conversation_id: UUID, number: int) -> StoredBody | None:
    """Return the attempt's pieces and messages; None where there is no such attempt.

    Raises ArchiveError where messages lie in an archive that cannot be opened.
    """
    row = _fetch(STORED_BODY, {"conversation": conversation_id, "number": number})
    if row is None:
        return None
    has_fork, base_seq, *kept = row[:_ATTEMPT_COLUMNS]
    stored = StoredBody(*kept)
    columns: Sequence[Any] = row[_ATTEMPT_COLUMNS:]
    if has_fork and stored.leaf_seq is not None:
        seqs = path_seqs(conversation_id=conversation_id, leaf_seq=stored.leaf_seq)
        named = {"conversation": conversation_id, "seqs": [seq for seq in seqs if seq > (base_seq or 0)]}
        columns = _fetch(MESSAGES_NAMED, named) or ()
    stored.messages = _assemble(conversation_id, columns)
    return stored


# A list for each column, in the order of the path; without any rows the lists are null. The last names
# the parts whose bytes are not in their row: by ordinal, and whether they are in a blob, archived or lost.
_MESSAGE_LISTS = """
SELECT array_agg(seq), array_agg(role), array_agg(provider_role), array_agg(shell)
FROM (SELECT seq, role, provider_role, shell FROM conversations_message WHERE {condition} ORDER BY seq) m
"""
_PART_LISTS = """
SELECT array_agg(seq), array_agg(type), array_agg(text), array_agg(payload), array_agg(shell), array_agg(
    CASE WHEN bytes_state IN ('present', 'redacted') THEN ordinal || ' ' || blob_id
        WHEN bytes_state = 'archived' THEN ordinal || ' archived' ELSE ordinal || ' lost' END)
FROM (SELECT seq, ordinal, type, text, payload, shell, bytes_state, blob_id FROM conversations_messagepart
    WHERE {condition} ORDER BY seq, ordinal) p
"""


_LISTS = f"({_MESSAGE_LISTS}) messages CROSS JOIN LATERAL ({_PART_LISTS}) parts"
_MESSAGES_NAMED = "SELECT messages.*, parts.* FROM {lists}"
MESSAGES_NAMED = _MESSAGES_NAMED.format(
    lists=_LISTS.format(condition="conversation_id = %(conversation)s AND seq = ANY(%(seqs)s)")
)

_ATTEMPT_COLUMNS = 16
_STORED_BODY = """
SELECT c.has_fork, g.base_seq, g.dialect, g.body_proof, g.body_style, g.body_renderer, g.body_size,
    g.leaf_seq, g.is_redacted, g.body_sha256, g.body_patch,
    (SELECT body FROM conversations_fragment WHERE id = g.preamble_id),
    (SELECT body FROM conversations_fragment WHERE id = g.leading_id),
    (SELECT body FROM conversations_fragment WHERE id = g.tools_id),
    (SELECT body FROM conversations_fragment WHERE id = g.envelope_id),
    (SELECT compressed FROM conversations_rawbody WHERE id = g.raw_request_id),
    messages.*, parts.*
FROM conversations_generation g JOIN conversations_conversation c ON c.id = g.conversation_id
CROSS JOIN LATERAL {lists}
WHERE g.conversation_id = %(conversation)s AND g.number = %(number)s
"""
# Where the conversation has no fork, all that comes before the leaf is on its path; else nothing is read.
STORED_BODY = _STORED_BODY.format(
    lists=_LISTS.format(
        condition="conversation_id = g.conversation_id AND seq > coalesce(g.base_seq, 0)"
        " AND seq <= g.leaf_seq AND NOT c.has_fork"
    )
)


def _fetch(statement: str, parameters: dict[str, Any]) -> tuple | None:
    with connection.cursor() as cursor:
        # Bytes come as bytes: as text they would take twice their length.
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, parameters)
        row: tuple | None = cursor.fetchone()
    return row


def _assemble(conversation_id: UUID, columns: Sequence[Any]) -> list[PathMessage]:
    seqs, roles, provider_roles, shells, part_seqs, *blocks, marks = columns
    if seqs is None:
        return []
    messages = {
        seq: PathMessage(seq, _ROLES[role], provider_role, shell)
        for seq, role, provider_role, shell in zip(seqs, roles, provider_roles, shells, strict=True)
    }
    if part_seqs is None:
        return list(messages.values())
    for seq, block in zip(part_seqs, map(_block, zip(*blocks, strict=True)), strict=True):
        messages[seq].parts.append(block)
    if any(marks):
        odd = [(messages[seq], mark) for seq, mark in zip(part_seqs, marks, strict=True) if mark]
        _fill(conversation_id, odd)
    return list(messages.values())


# What `Block._make` does, at a third of its time.
_block: Callable[[Iterable[Any]], Block] = partial(tuple.__new__, Block)


def _fill(conversation_id: UUID, odd: Sequence[tuple[PathMessage, str]]) -> None:
    """Fetch the bytes that lie elsewhere; those that lie nowhere are lost."""
    archive: ArchivedBytes | None = None
    for message, mark in odd:
        text, _, where = mark.partition(" ")
        ordinal = int(text)
        if where == "archived":
            archive = archive or open_archive(conversation_id=conversation_id)
            _fill_from_archive(message, ordinal, archive)
        elif where == "lost":
            message.lost_parts.append(ordinal)
        else:
            message.parts[ordinal] = message.parts[ordinal]._replace(payload=_read_large(int(where)))


def _fill_from_archive(message: PathMessage, ordinal: int, archive: ArchivedBytes) -> None:
    kept = archive.parts.get((message.seq, ordinal))
    if kept is None:
        message.lost_parts.append(ordinal)
        return
    message.parts[ordinal] = Block(message.parts[ordinal].type, kept.text, kept.payload, kept.shell)
    if message.shell is None:
        message.shell = archive.shells.get(message.seq)


def _read_large(blob_id: int) -> bytes:
    return read_blob(storage_key=Blob.objects.values_list("storage_key", flat=True).get(pk=blob_id))


_ROLES = {role.value: role for role in Role}
