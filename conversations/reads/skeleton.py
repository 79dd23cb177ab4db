"""The shape of a conversation: every message's place in the tree, without a word of what it says."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection


class Node(NamedTuple):
    seq: int
    parent_seq: int | None
    answers_seq: int | None
    role: str
    branch_reason: str
    is_hidden: bool
    created_at: datetime


def read_skeleton(*, conversation_id: UUID) -> list[Node]:
    """Return every message's place, in the order of their numbers; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_NODES, [conversation_id])
        return list(map(Node._make, cursor.fetchall()))


_NODES = """
SELECT seq, parent_seq, answers_seq, role, branch_reason, is_hidden, created_at
FROM conversations_message WHERE conversation_id = %s ORDER BY seq
"""


def read_sizes(*, conversation_id: UUID) -> dict[int, tuple[int, int]]:
    """Return for each message how many parts it has and their bytes, in rows and in blobs; one query."""
    with connection.cursor() as cursor:
        cursor.execute(_SIZES, [conversation_id])
        return {seq: (count, size) for seq, count, size in cursor.fetchall()}


_SIZES = """
SELECT p.seq, count(*),
    coalesce(sum(coalesce(octet_length(p.payload), b.size, octet_length(p.text))), 0)::bigint
FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id
WHERE p.conversation_id = %s GROUP BY p.seq
"""
