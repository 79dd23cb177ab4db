"""Which request an exchange is an attempt of."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import Max

from conversations.models import Generation


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
    answered then; if something was, it is a regenerate: a request of its own.
    """
    if not request_id:
        earlier = None if leaf_seq is None else _sent_before(conversation_id, leaf_seq, body_digest)
        if earlier is None or earlier.message_seq is not None:
            return AttemptName(otherwise, _next_number(conversation_id, otherwise))
        request_id = earlier.request_id
    return AttemptName(request_id, _next_number(conversation_id, request_id))


def _sent_before(conversation_id: UUID, leaf_seq: int, body_digest: bytes) -> Generation | None:
    return (
        Generation.objects.filter(conversation_id=conversation_id, leaf_seq=leaf_seq, body_sha256=body_digest)
        .only("request_id", "message_seq")
        .order_by("-number")
        .first()
    )


def _next_number(conversation_id: UUID, request_id: str) -> int:
    last = Generation.objects.filter(conversation_id=conversation_id, request_id=request_id).aggregate(
        last=Max("attempt")
    )["last"]
    return int(last or 0) + 1
