"""The conversation that an exchange is written into, locked."""

from typing import NamedTuple
from uuid import UUID

from django.db import connection

from conversations.errors import NotFoundError


class Tree(NamedTuple):
    """A conversation's row as it stands under its lock, until the transaction ends."""

    id: UUID
    account_id: UUID
    head_seq: int | None
    next_seq: int
    next_generation: int


def lock_tree(*, conversation_id: UUID, account_id: UUID) -> Tree:
    """Wait for every other writer of the account's conversation; what is read after this is current."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, account_id, head_seq, next_seq, next_generation FROM conversations_conversation"
            " WHERE id = %s AND account_id = %s FOR NO KEY UPDATE",
            [conversation_id, account_id],
        )
        row = cursor.fetchone()
    if row is None:
        raise NotFoundError(
            "no-conversation", "the account has no such conversation", place=f"conversation {conversation_id}"
        )
    return Tree(*row)
