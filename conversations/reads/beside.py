"""What stands beside the messages of an answer: why each hangs where it hangs, odd parts, attempts.

Plain cursors with one array for all numbers: a list of parameters would end at 65,535 of them.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import connection


class OddPart(NamedTuple):
    """A part that lost bytes, or whose bytes lie in blob storage: then `size` is theirs."""

    bytes_state: str
    size: int | None


def read_branch_reasons(*, conversation_id: UUID, seqs: Sequence[int]) -> dict[int, str]:
    with connection.cursor() as cursor:
        cursor.execute(_REASONS, [conversation_id, list(seqs)])
        return dict(cursor.fetchall())


def read_odd_parts(*, conversation_id: UUID, seqs: Sequence[int]) -> dict[tuple[int, int], OddPart]:
    """Return by message and ordinal the parts whose bytes are not all in their row."""
    with connection.cursor() as cursor:
        cursor.execute(_ODD_PARTS, [conversation_id, list(seqs)])
        return {(row[0], row[1]): OddPart(*row[2:]) for row in cursor.fetchall()}


def read_answering(*, conversation_id: UUID, seqs: Sequence[int]) -> dict[int, int]:
    """Return for each message that is an attempt's answer the number of that attempt."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERING, [conversation_id, list(seqs)])
        return dict(cursor.fetchall())


_REASONS = (
    "SELECT seq, branch_reason FROM conversations_message WHERE conversation_id = %s AND seq = ANY(%s::int[])"
)
_ODD_PARTS = """
SELECT p.seq, p.ordinal, p.bytes_state, b.size
FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id
WHERE p.conversation_id = %s AND p.seq = ANY(%s::int[])
    AND (p.bytes_state <> 'present' OR p.blob_id IS NOT NULL)
"""
_ANSWERING = """
SELECT message_seq, number FROM conversations_generation
WHERE conversation_id = %s AND message_seq = ANY(%s::int[]) ORDER BY number
"""
