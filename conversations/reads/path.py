"""Hot reads: the path to a leaf and the drafts of its messages, by a plain cursor.

Replay, recording and the API read thousands of parts at once; lists and forms
use the ORM. A path's numbers ascend, so nothing above the leaf is ever read.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg.pq import Format

from conversations.drafts import MessageDraft, PartDraft
from conversations.services.blobs import read_blob
from conversations.vocabulary import Dialect, PartBytes, PartStatus, PartType, Role


@dataclass(slots=True)
class StoredMessage:
    """A message as stored. `lost_parts` are the ordinals whose bytes are no longer there."""

    seq: int
    parent_seq: int | None
    answers_seq: int | None
    dialect: Dialect | None
    path_digest: bytes | None
    created_at: datetime
    draft: MessageDraft
    lost_parts: list[int]

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
    """Return the messages from the root to the leaf, with their parts; one round trip where there is no fork.

    Large payloads are fetched from blob storage unless `with_bytes` is false.
    """
    place = {"conversation": conversation_id, "leaf": leaf_seq}
    with _binary_cursor() as messages, _binary_cursor() as parts, _one_round_trip():
        messages.execute(_MESSAGES_UP_TO, place)
        parts.execute(_PARTS_WITHOUT_FORK, place)
        rows = {row[0]: row for row in messages.fetchall()}
        part_rows = parts.fetchall()
    seqs = _walk({seq: row[1] for seq, row in rows.items()}, leaf_seq)
    path = [_stored(rows[seq]) for seq in seqs]
    if not path:
        return []
    if not part_rows:
        # There is a fork, or hardly a part: then the parts of this path alone are asked for.
        part_rows = _part_rows(conversation_id, seqs)
    return _with_parts(path, part_rows, with_bytes=with_bytes)


def read_messages(
    *, conversation_id: UUID, seqs: Iterable[int], with_bytes: bool = True
) -> list[StoredMessage]:
    """Return the messages named, in the order of their numbers, with their parts."""
    named = list(seqs)
    with _binary_cursor() as cursor:
        cursor.execute(_MESSAGES_NAMED, [conversation_id, named])
        messages = [_stored(row) for row in cursor.fetchall()]
    return _with_parts(messages, _part_rows(conversation_id, named), with_bytes=with_bytes)


_MESSAGE = """
SELECT seq, parent_seq, answers_seq, role, provider_role, dialect, shell, path_digest, created_at,
    client_message_id, token_count, occurred_at, is_hidden
FROM conversations_message WHERE conversation_id = """
_MESSAGES_UP_TO = _MESSAGE + "%(conversation)s AND seq <= %(leaf)s"
_MESSAGES_NAMED = _MESSAGE + "%s AND seq = ANY(%s) ORDER BY seq"
_PART = """
SELECT seq, ordinal, type, text, payload, shell, provider_type, tool_call_id, tool_name, status,
    orphan, is_text_copy, media_type, is_minted_id, bytes_state, blob_id
FROM conversations_messagepart WHERE conversation_id = """
_PARTS_NAMED = _PART + "%s AND seq = ANY(%s) ORDER BY seq, ordinal"
# Where a conversation has no fork, all that comes before the leaf is on its path; else nothing is read.
_HAS_FORK = "(SELECT has_fork FROM conversations_conversation WHERE id = %(conversation)s)"
_PARTS_WITHOUT_FORK = (
    _PART + "%(conversation)s AND seq <= %(leaf)s AND NOT " + _HAS_FORK + " ORDER BY seq, ordinal"
)
_BYTES_ARE_HERE = frozenset({PartBytes.PRESENT.value, PartBytes.REDACTED.value})


@contextmanager
def _binary_cursor() -> Iterator[CursorWrapper]:
    """A cursor that gets bytes as bytes: as text they would come at twice their length."""
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY
        yield cursor


@contextmanager
def _one_round_trip() -> Iterator[None]:
    """Send the statements within together; the first that fetches waits for them."""
    with connection.connection.pipeline():
        yield


def _walk(parents: dict[int, int | None], leaf_seq: int) -> list[int]:
    seqs: list[int] = []
    seq: int | None = leaf_seq if leaf_seq in parents else None
    while seq is not None:
        seqs.append(seq)
        seq = parents[seq]
    seqs.reverse()
    return seqs


def _stored(row: Sequence) -> StoredMessage:
    return StoredMessage(
        seq=row[0],
        parent_seq=row[1],
        answers_seq=row[2],
        dialect=_DIALECTS.get(row[5]),
        path_digest=None if row[7] is None else bytes(row[7]),
        created_at=row[8],
        draft=MessageDraft(
            role=_ROLES[row[3]],
            provider_role=row[4],
            shell=row[6],
            client_message_id=row[9],
            token_count=row[10],
            occurred_at=row[11],
            is_hidden=row[12],
        ),
        lost_parts=[],
    )


def _part_rows(conversation_id: UUID, seqs: Sequence[int]) -> list[tuple]:
    with _binary_cursor() as cursor:
        cursor.execute(_PARTS_NAMED, [conversation_id, list(seqs)])
        return list(cursor.fetchall())


def _with_parts(
    messages: list[StoredMessage], rows: Iterable[Sequence], *, with_bytes: bool
) -> list[StoredMessage]:
    by_seq = {message.seq: message for message in messages}
    in_blobs: dict[int, list[PartDraft]] = {}
    for row in rows:
        message = by_seq[row[0]]
        part = _part(row)
        message.draft.parts.append(part)
        if row[14] not in _BYTES_ARE_HERE:
            message.lost_parts.append(row[1])
        elif row[15] is not None:
            in_blobs.setdefault(row[15], []).append(part)
    if in_blobs and with_bytes:
        _fill_from_blobs(in_blobs)
    return messages


def _part(row: Sequence) -> PartDraft:
    return PartDraft(
        _TYPES[row[2]],
        row[3],
        row[4],
        row[5],
        row[11],
        row[6],
        row[7],
        row[8],
        None if row[9] is None else _STATUSES[row[9]],
        row[10],
        row[12],
        row[13],
    )


def _fill_from_blobs(in_blobs: dict[int, list[PartDraft]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, storage_key FROM conversations_blob WHERE id = ANY(%s)", [list(in_blobs)])
        for blob_id, storage_key in cursor.fetchall():
            payload = read_blob(storage_key=storage_key)
            for part in in_blobs[blob_id]:
                part.payload = payload
