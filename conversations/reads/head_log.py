"""The log of head moves: which message's path the customer saw, and from when."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import connection


class Move(NamedTuple):
    number: int
    head_seq: int
    moved_at: datetime
    by_kind: str
    by_id: str
    reason: str


def read_moves(*, conversation_id: UUID, before: int | None = None, limit: int = 500) -> list[Move]:
    """Return the newest moves below number `before`, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"{_MOVES} AND number < %s ORDER BY number DESC LIMIT %s",
            [conversation_id, _PAST_ANY if before is None else before, limit],
        )
        return list(map(Move._make, cursor.fetchall()))


def move_at(*, conversation_id: UUID, moment: datetime) -> Move | None:
    """Return the move that was the last one at `moment`; None where nothing was shown yet.

    Times in the log never run backwards, so the highest number is the last move.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"{_MOVES} AND moved_at <= %s ORDER BY number DESC LIMIT 1", [conversation_id, moment])
        row = cursor.fetchone()
    return None if row is None else Move._make(row)


def read_move(*, conversation_id: UUID, number: int) -> Move | None:
    with connection.cursor() as cursor:
        cursor.execute(f"{_MOVES} AND number = %s", [conversation_id, number])
        row = cursor.fetchone()
    return None if row is None else Move._make(row)


def highest_head(*, conversation_id: UUID, number: int) -> int:
    """Return the highest message that had been the head by move `number`; 0 where there was none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(head_seq), 0) FROM conversations_headmove"
            " WHERE conversation_id = %s AND number <= %s",
            [conversation_id, number],
        )
        return int(cursor.fetchone()[0])


def movers_to(*, conversation_id: UUID, moments: Iterable[datetime]) -> dict[datetime, str]:
    """Return the kind of actor that moved the head at each of these moments.

    A message and the move that shows it carry one time, so this tells who made a version.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT moved_at, moved_by_kind FROM conversations_headmove"
            " WHERE conversation_id = %s AND moved_at = ANY(%s) ORDER BY number",
            [conversation_id, list(moments)],
        )
        return dict(cursor.fetchall())


_PAST_ANY = 2**31 - 1
_MOVES = """
SELECT number, head_seq, moved_at, moved_by_kind, moved_by_id, reason
FROM conversations_headmove WHERE conversation_id = %s
"""
