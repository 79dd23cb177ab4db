"""The locks of every destructive path, in the one order: account, conversation, effect, each by id."""

from collections.abc import Collection
from uuid import UUID

from django.db import connection


def lock_accounts(ids: Collection[UUID]) -> None:
    """Lock accounts against holds; writers of their conversations go on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM conversations_account WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE",
            [list(ids)],
        )


def lock_conversations(ids: Collection[UUID], *, waits: bool = False) -> list[UUID]:
    """Lock conversations and return those that we have; what somebody else has is left to them."""
    how = "FOR UPDATE" if waits else "FOR UPDATE SKIP LOCKED"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id FROM conversations_conversation WHERE id = ANY(%s) ORDER BY id {how}", [list(ids)]
        )
        return [row[0] for row in cursor.fetchall()]
