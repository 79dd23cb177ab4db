"""All that a body is rebuilt from, in one question to the database.

The rows of the answer have few columns of mixed meaning: what is not needed to
write a body is not fetched, and the attempt, its fragments, the messages and
their parts come in one round trip. Only where the conversation has a fork the
path must be walked first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from conversations.archive.opening import open_archive
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Blob
from conversations.reads.path import path_seqs
from conversations.services.blobs import read_blob
from conversations.vocabulary import PartType, Role


@dataclass(slots=True)
class PathMessage:
    """A message as far as rendering needs it; `lost_parts` are the ordinals whose bytes are gone."""

    seq: int
    draft: MessageDraft
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
    sha256: bytes | None = None
    patch: bytes | None = None
    preamble: bytes | None = None
    leading: bytes | None = None
    tools: bytes | None = None
    envelope: bytes | None = None
    verbatim: bytes | None = None
    messages: list[PathMessage] = field(default_factory=list)


def read_stored_body(*, conversation_id: UUID, number: int) -> StoredBody | None:
    """Return the attempt's pieces and messages; None where there is no such attempt.

    Raises ArchiveError where messages lie in an archive that cannot be opened.
    """
    rows = _fetch(STORED_BODY, {"conversation": conversation_id, "number": number})
    pieces = {row[0]: row for row in rows if row[0] < 0}
    if not pieces:
        return None
    head = pieces[_ATTEMPT]
    leaf_seq, base_seq, style, renderer, size, is_redacted, has_fork = _read_numbers(head[3])
    if has_fork and leaf_seq is not None:
        seqs = path_seqs(conversation_id=conversation_id, leaf_seq=leaf_seq)
        named = {"conversation": conversation_id, "seqs": [seq for seq in seqs if seq > (base_seq or 0)]}
        rows = _fetch(MESSAGES_NAMED, named)
    kept: dict[str, Any] = {name: pieces[place][4] for place, name in _PIECES.items() if place in pieces}
    return StoredBody(
        dialect=head[2],
        proof=head[5],
        style=style,
        renderer=renderer,
        size=size,
        leaf_seq=leaf_seq,
        is_redacted=bool(is_redacted),
        patch=head[4],
        messages=_assemble(conversation_id, rows),
        **kept,
    )


# What has no message's number stands under one below 0.
_ATTEMPT = -1
_PIECES = {-2: "sha256", -3: "preamble", -4: "leading", -5: "tools", -6: "envelope", -7: "verbatim"}

_MESSAGES = """
SELECT m.seq, NULL::smallint, m.role, m.provider_role, NULL::bytea, m.shell, NULL::text
FROM {tables} WHERE {condition}
"""
_PARTS = """
SELECT m.seq, m.ordinal, m.type, m.text, m.payload, m.shell,
    CASE WHEN m.bytes_state IN ('present', 'redacted') THEN m.blob_id::text
        WHEN m.bytes_state = 'archived' THEN 'archived' ELSE 'lost' END
FROM {tables} WHERE {condition}
"""


def _path(source: str, condition: str) -> str:
    messages = _MESSAGES.format(tables=f"{source}conversations_message m", condition=condition)
    parts = _PARTS.format(tables=f"{source}conversations_messagepart m", condition=condition)
    return f"{messages} UNION ALL {parts}"


MESSAGES_NAMED = _path("", "m.conversation_id = %(conversation)s AND m.seq = ANY(%(seqs)s)")

_OWN_PATH = _path(
    "g, ",
    "m.conversation_id = g.conversation_id AND m.seq > coalesce(g.base_seq, 0) AND m.seq <= g.leaf_seq"
    " AND NOT g.has_fork",
)

# Where the conversation has no fork, all that comes before the leaf is on its path; else nothing is read.
_STORED_BODY = """
WITH g AS MATERIALIZED (
    SELECT g.*, c.has_fork
    FROM conversations_generation g JOIN conversations_conversation c ON c.id = g.conversation_id
    WHERE g.conversation_id = %(conversation)s AND g.number = %(number)s
)
SELECT -1 AS seq, NULL::smallint AS ordinal, dialect AS word,
    concat_ws(' ', coalesce(leaf_seq, -1), coalesce(base_seq, -1), coalesce(body_style, -1),
        coalesce(body_renderer, -1), coalesce(body_size, -1), is_redacted::int, has_fork::int) AS text,
    body_patch AS payload, body_proof::text AS shell, NULL::text AS mark
FROM g
UNION ALL
SELECT piece.place, NULL, NULL, NULL, coalesce(f.body, piece.body), NULL, NULL
FROM g CROSS JOIN LATERAL (VALUES
    (-2, NULL::bigint, body_sha256), (-3, preamble_id, NULL), (-4, leading_id, NULL), (-5, tools_id, NULL),
    (-6, envelope_id, NULL)
) AS piece(place, fragment_id, body) LEFT JOIN conversations_fragment f ON f.id = piece.fragment_id
UNION ALL
SELECT -7, NULL, NULL, NULL, r.compressed, NULL, NULL
FROM g JOIN conversations_rawbody r ON r.id = g.raw_request_id
UNION ALL
{own_path}
"""
STORED_BODY = _STORED_BODY.format(own_path=_OWN_PATH)


def _read_numbers(text: str) -> list[int | None]:
    return [None if number == "-1" else int(number) for number in text.split(" ")]


def _fetch(statement: str, parameters: dict[str, Any]) -> list[tuple]:
    with connection.cursor() as cursor:
        # Bytes come as bytes: as text they would take twice their length.
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def _assemble(conversation_id: UUID, rows: Sequence[tuple]) -> list[PathMessage]:
    parts = sorted((row for row in rows if row[1] is not None), key=itemgetter(0, 1))
    messages = {
        row[0]: PathMessage(row[0], MessageDraft(role=_ROLES[row[2]], provider_role=row[3], shell=row[5]))
        for row in sorted((row for row in rows if row[0] > 0 and row[1] is None), key=itemgetter(0))
    }
    archived: list[tuple[PathMessage, int, PartDraft]] = []
    for seq, ordinal, kind, text, payload, shell, mark in parts:
        message = messages[seq]
        part = PartDraft(_TYPES[kind], text, payload, shell)
        message.draft.parts.append(part)
        if mark == "lost":
            message.lost_parts.append(ordinal)
        elif mark == "archived":
            archived.append((message, ordinal, part))
        elif mark is not None:
            part.payload = _read_large(int(mark))
    if archived:
        _fill_from_archive(conversation_id, archived)
    return list(messages.values())


def _fill_from_archive(conversation_id: UUID, archived: Sequence[tuple[PathMessage, int, PartDraft]]) -> None:
    content = open_archive(conversation_id=conversation_id)
    for message, ordinal, part in archived:
        kept = content.parts.get((message.seq, ordinal))
        if kept is None:
            message.lost_parts.append(ordinal)
            continue
        part.text, part.payload, part.shell = kept.text, kept.payload, kept.shell
        if message.draft.shell is None:
            message.draft.shell = content.shells.get(message.seq)


def _read_large(blob_id: int) -> bytes:
    return read_blob(storage_key=Blob.objects.values_list("storage_key", flat=True).get(pk=blob_id))


_ROLES = {role.value: role for role in Role}
_TYPES = {kind.value: kind for kind in PartType}
