"""Which request an exchange is an attempt of."""

from typing import NamedTuple
from uuid import UUID

from django.db import connection


class AttemptName(NamedTuple):
    request_id: str
    number: int


def name_attempt(
    *,
    conversation_id: UUID,
    request_id: str,
    leaf_seq: int | None,
    body_digest: bytes,
    otherwise: str,
) -> AttemptName:
    """Return the request that this exchange serves, and which attempt of it this is.

    The caller's own request id decides. Without one, the same body sent again
    below the same leaf is the next attempt of its request if nothing was
    answered then; if something was, it is a regenerate: a request of its own,
    named `otherwise`, which nobody else uses.
    """
    if not request_id and leaf_seq is not None:
        request_id = _unanswered_request(conversation_id, leaf_seq, body_digest)
    if not request_id:
        return AttemptName(otherwise, 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(attempt), 0) + 1 FROM conversations_generation"
            " WHERE conversation_id = %s AND request_id = %s",
            [conversation_id, request_id],
        )
        return AttemptName(request_id, cursor.fetchone()[0])


def _unanswered_request(conversation_id: UUID, leaf_seq: int, body_digest: bytes) -> str:
    """Return the request that sent this body below this leaf last, if nothing was answered; else nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT request_id, message_seq FROM conversations_generation"
            " WHERE conversation_id = %s AND leaf_seq = %s AND body_sha256 = %s"
            " ORDER BY number DESC LIMIT 1",
            [conversation_id, leaf_seq, body_digest],
        )
        row = cursor.fetchone()
    return row[0] if row is not None and row[1] is None else ""
