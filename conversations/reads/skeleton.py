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
