"""Hot reads: the path to a leaf and the drafts of its messages, by a plain cursor.

Replay, recording and the API read thousands of parts at once; lists and forms
use the ORM. A path's numbers ascend, so nothing above the leaf is ever read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from conversations.archive.opening import ArchiveError, open_archive
from conversations.drafts import MessageDraft, PartDraft
from conversations.services.blobs import read_blob
from conversations.vocabulary import Dialect, PartBytes, PartStatus, PartType, Role


@dataclass(slots=True)
class StoredMessage:
    """A message as stored. `lost_parts` are the ordinals whose bytes are no longer there.

    What was opened in the archive is not lost: `archived` says by ordinal in which state the bytes
    lie there. Where the archive could not be opened, `lost_why` says so in words.
    """

    seq: int
    parent_seq: int | None
    answers_seq: int | None
    dialect: Dialect | None
    path_digest: bytes | None
    created_at: datetime
    draft: MessageDraft
    lost_parts: list[int]
    archived: dict[int, PartBytes] = field(default_factory=dict)
    lost_why: str = ""

    @property
    def group_ordinal(self) -> int:
        return self.seq if self.answers_seq is None else self.answers_seq


_ROLES = {role.value: role for role in Role}
_TYPES = {kind.value: kind for kind in PartType}
_STATUSES = {status.value: status for status in PartStatus}
_DIALECTS = {dialect.value: dialect for dialect in Dialect}


def path_seqs(*, conversation_id: UUID, leaf_seq: int) -> list[int]:
    """Return the numbers of the messages from the root to the leaf; empty where there is no such leaf."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq, parent_seq FROM conversations_message WHERE conversation_id = %s AND seq <= %s",
            [conversation_id, leaf_seq],
        )
        return _walk(dict(cursor.fetchall()), leaf_seq)


def read_path(*, conversation_id: UUID, leaf_seq: int, with_bytes: bool = True) -> list[StoredMessage]:
    """Return the messages from the root to the leaf, with their parts; one query where there is no fork.

    Large payloads are fetched from blob storage, and archived bytes from their archive, unless
    `with_bytes` is false. An archive that cannot be opened leaves its parts lost.
    """
    rows = _fetch(_PATH_WITHOUT_FORK, {"conversation": conversation_id, "leaf": leaf_seq})
    if rows:
        path = _assemble(conversation_id, rows, with_bytes=with_bytes)
        return path if path[-1].seq == leaf_seq else []
    seqs = path_seqs(conversation_id=conversation_id, leaf_seq=leaf_seq)
    return read_messages(conversation_id=conversation_id, seqs=seqs, with_bytes=with_bytes) if seqs else []


def read_messages(
    *, conversation_id: UUID, seqs: Iterable[int], with_bytes: bool = True
) -> list[StoredMessage]:
    """Return the messages named, in the order of their numbers, with their parts."""
    rows = _fetch(_MESSAGES_NAMED, {"conversation": conversation_id, "seqs": list(seqs)})
    return _assemble(conversation_id, rows, with_bytes=with_bytes)


# Messages and parts in one answer, without a join: first the messages, whose ordinal is null, each
# column where the parts have one of its type; the last five are the messages' own.
_ROWS = """
SELECT seq, NULL::smallint, role, provider_role, path_digest, shell, is_hidden, dialect, client_message_id,
    NULL, NULL, NULL::bool, NULL, NULL::bool, NULL, NULL::bigint,
    parent_seq, answers_seq, token_count, created_at, occurred_at
FROM conversations_message WHERE {condition}
UNION ALL
SELECT seq, ordinal, type, text, payload, shell, is_text_copy, provider_type, tool_call_id,
    tool_name, status, orphan, media_type, is_minted_id, bytes_state, blob_id,
    NULL, NULL, NULL, NULL, NULL
FROM conversations_messagepart WHERE {condition}
"""
_MESSAGES_NAMED = _ROWS.format(condition="conversation_id = %(conversation)s AND seq = ANY(%(seqs)s)")
# Where a conversation has no fork, all that comes before the leaf is on its path; else nothing is read.
_PATH_WITHOUT_FORK = _ROWS.format(
    condition=(
        "conversation_id = %(conversation)s AND seq <= %(leaf)s"
        " AND NOT (SELECT has_fork FROM conversations_conversation WHERE id = %(conversation)s)"
    )
)


def _fetch(statement: str, parameters: dict[str, Any]) -> list[tuple]:
    with connection.cursor() as cursor:
        # Bytes come as bytes: as text they would take twice their length.
        cursor.cursor.format = Format.BINARY
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def _walk(parents: dict[int, int | None], leaf_seq: int) -> list[int]:
    seqs: list[int] = []
    seq: int | None = leaf_seq if leaf_seq in parents else None
    while seq is not None:
        seqs.append(seq)
        seq = parents[seq]
    seqs.reverse()
    return seqs


_BYTES_ARE_HERE = frozenset({PartBytes.PRESENT.value, PartBytes.REDACTED.value})


def _assemble(conversation_id: UUID, rows: list[tuple], *, with_bytes: bool) -> list[StoredMessage]:
    in_blobs: dict[int, list[PartDraft]] = {}
    in_archive: list[tuple[StoredMessage, int]] = []
    # Nearly in order as they come, so that sorting is one pass.
    messages = {row[0]: _message(*row) for row in sorted(_heads(rows), key=_BY_SEQ)}
    for row in sorted(_parts(rows), key=_BY_PLACE):
        message = messages[row[0]]
        part = _part(*row)
        message.draft.parts.append(part)
        state, blob_id = row[14], row[15]
        if state not in _BYTES_ARE_HERE:
            ordinal = row[1]
            message.lost_parts.append(ordinal)
            if state == PartBytes.ARCHIVED:
                in_archive.append((message, ordinal))
        elif blob_id is not None:
            in_blobs.setdefault(blob_id, []).append(part)
    if in_blobs and with_bytes:
        _fill_from_blobs(in_blobs)
    if in_archive and with_bytes:
        _fill_from_archive(conversation_id, in_archive)
    return list(messages.values())


_BY_SEQ, _BY_PLACE = itemgetter(0), itemgetter(0, 1)


def _heads(rows: list[tuple]) -> list[tuple]:
    return [row for row in rows if row[1] is None]


def _parts(rows: list[tuple]) -> list[tuple]:
    return [row for row in rows if row[1] is not None]


# A path has hundreds of rows: they are taken apart by the call itself, and laid out by position.
def _message(
    seq: int,
    _: None,
    role: str,
    provider_role: str,
    path_digest: bytes | None,
    shell: str | None,
    is_hidden: bool,
    dialect: str,
    client_message_id: str | None,
    *others: Any,
) -> StoredMessage:
    parent_seq, answers_seq, token_count, created_at, occurred_at = others[7:]
    draft = MessageDraft(
        _ROLES[role], [], provider_role, shell, client_message_id, token_count, occurred_at, is_hidden
    )
    return StoredMessage(
        seq, parent_seq, answers_seq, _DIALECTS.get(dialect), path_digest, created_at, draft, []
    )


def _part(
    _: int,
    __: int,
    kind: str,
    text: str | None,
    payload: bytes | None,
    shell: str | None,
    is_text_copy: bool,
    provider_type: str,
    tool_call_id: str | None,
    tool_name: str | None,
    status: str | None,
    orphan: bool,
    media_type: str,
    is_minted_id: bool,
    *others: Any,
) -> PartDraft:
    return PartDraft(
        _TYPES[kind],
        text,
        payload,
        shell,
        is_text_copy,
        provider_type,
        tool_call_id,
        tool_name,
        None if status is None else _STATUSES[status],
        orphan,
        media_type,
        is_minted_id,
    )


def _fill_from_blobs(in_blobs: dict[int, list[PartDraft]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, storage_key FROM conversations_blob WHERE id = ANY(%s)", [list(in_blobs)])
        for blob_id, storage_key in cursor.fetchall():
            payload = read_blob(storage_key=storage_key)
            for part in in_blobs[blob_id]:
                part.payload = payload


def _fill_from_archive(conversation_id: UUID, in_archive: list[tuple[StoredMessage, int]]) -> None:
    try:
        content = open_archive(conversation_id=conversation_id)
    except ArchiveError as error:
        for message, _ in in_archive:
            message.lost_why = error.explanation
        return
    for message, ordinal in in_archive:
        kept = content.parts.get((message.seq, ordinal))
        if kept is None:
            continue
        part = message.draft.parts[ordinal]
        part.text, part.payload, part.shell = kept.text, kept.payload, kept.shell
        part.is_text_copy = kept.is_text_copy
        message.lost_parts.remove(ordinal)
        message.archived[ordinal] = kept.state
        if message.draft.shell is None:
            message.draft.shell = content.shells.get(message.seq)
