"""Once only for callers: the first answer under an idempotency key, kept for whoever asks again."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from access.models.api_key import ApiKey
from access.models.stored_answer import StoredAnswer

# A request that has run longer than this has died: whoever repeats it works in its place.
LONGEST_REQUEST: Final = timedelta(minutes=5)
ANSWERS_ARE_KEPT: Final = timedelta(hours=48)

_CLAIM: Final = """
INSERT INTO access_storedanswer
    (api_key_id, idempotency_key, request_digest, claimed_at, headers, body)
VALUES (%(key)s, %(name)s, %(digest)s, %(now)s, '{}', '')
ON CONFLICT (api_key_id, idempotency_key) DO UPDATE SET claimed_at = excluded.claimed_at
WHERE access_storedanswer.answered_at IS NULL AND access_storedanswer.claimed_at <= %(dead)s
    AND access_storedanswer.request_digest = excluded.request_digest
RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """The caller works on the request; whoever repeats it meanwhile is told to wait."""

    id: int
    claimed_at: datetime


class KeyReusedError(Exception):
    """The idempotency key was used for another request."""


class StillWorkingError(Exception):
    """The first request under this key has not been answered yet."""


def request_digest(*, method: str, path: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\n".join([method.encode(), path.encode(), body])).digest()


def claim_answer(*, key: ApiKey, idempotency_key: str, digest: bytes, now: datetime) -> Claim | StoredAnswer:
    """Take the work on, or return what was answered before. Raises KeyReusedError, StillWorkingError."""
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM,
            {
                "key": key.pk,
                "name": idempotency_key,
                "digest": digest,
                "now": now,
                "dead": now - LONGEST_REQUEST,
            },
        )
        row = cursor.fetchone()
    if row is not None:
        return Claim(row[0], now)
    stored = StoredAnswer.objects.filter(api_key=key, idempotency_key=idempotency_key).first()
    if stored is None:
        # The first one failed between the two statements and gave its claim back.
        raise StillWorkingError
    if bytes(stored.request_digest) != digest:
        raise KeyReusedError
    if stored.answered_at is None:
        raise StillWorkingError
    return stored


def keep_answer(
    claim: Claim, *, status: int, headers: dict[str, str], body: bytes, account_id: UUID | None, now: datetime
) -> bool:
    """Keep the answer; return False where the claim went to another in the meantime.

    Called in the transaction that did the work, which is to be rolled back then.
    """
    ours = StoredAnswer.objects.filter(pk=claim.id, claimed_at=claim.claimed_at, answered_at__isnull=True)
    return bool(
        ours.update(answered_at=now, status=status, headers=headers, body=body, account_id=account_id)
    )


def give_back(claim: Claim) -> None:
    """Let the request be tried again: it failed for a reason of ours."""
    StoredAnswer.objects.filter(pk=claim.id, claimed_at=claim.claimed_at, answered_at__isnull=True).delete()


@transaction.atomic
def forget_answers(*, now: datetime, batch: int = 5_000) -> int:
    """Delete up to `batch` answers that are older than they are kept; return how many went."""
    old = (
        StoredAnswer.objects.filter(claimed_at__lt=now - ANSWERS_ARE_KEPT)
        .order_by("claimed_at")
        .values_list("pk", flat=True)[:batch]
    )
    return StoredAnswer.objects.filter(pk__in=list(old)).delete()[0]
