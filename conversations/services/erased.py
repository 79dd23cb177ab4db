"""Recognising who was erased: keyed digests, asked where an account or a conversation begins."""

import hashlib
import hmac
import unicodedata
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db import connection

from conversations.errors import StoreError
from conversations.models import ErasedSubject
from conversations.vocabulary import ErasedKind


class ErasedError(StoreError):
    """What comes in belongs to a person who was erased; nothing of it is kept."""


def subject_digest(*, kind: ErasedKind, realm_id: int | None, value: str) -> bytes:
    """Return the keyed digest of an identifier; e-mail addresses and names are compared without case."""
    folded = unicodedata.normalize("NFC", value).strip()
    if kind == ErasedKind.EMAIL:
        folded = folded.casefold()
    message = "\0".join((str(kind), "" if realm_id is None else str(realm_id), folded))
    return hmac.new(settings.DIGEST_KEY.encode(), message.encode(), hashlib.sha256).digest()


def remember_erased(*, digests: Iterable[tuple[ErasedKind, bytes]], now: datetime) -> int:
    """Write digests down; those that are known are left as they are. Returns how many are new."""
    named = list(digests)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO conversations_erasedsubject (kind, digest, erased_at)"
            " SELECT kind, digest, %s FROM unnest(%s::text[], %s::bytea[]) AS named(kind, digest)"
            " ON CONFLICT (digest, kind) DO NOTHING",
            [now, [str(kind) for kind, _ in named], [digest for _, digest in named]],
        )
        return int(cursor.rowcount)


def is_erased(*, kind: ErasedKind, realm_id: int | None, value: str) -> bool:
    digest = subject_digest(kind=kind, realm_id=realm_id, value=value)
    return ErasedSubject.objects.filter(digest=digest, kind=kind).exists()


def refuse_erased(*, kind: ErasedKind, realm_id: int | None, value: str) -> None:
    """Raise ErasedError where this identifier is one of a person who was erased."""
    if value and is_erased(kind=kind, realm_id=realm_id, value=value):
        raise ErasedError(
            "erased-subject", f"this {kind.label} is of somebody who was erased", place=str(kind)
        )
