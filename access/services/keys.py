"""API keys: made, found, exchanged for a new one, taken back."""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q

from access.actors import Actor
from access.models.api_key import DEFAULT_REQUESTS_PER_MINUTE, EVERY_READ, ApiKey, Scope
from access.models.log import AccessAction, TargetKind
from access.models.realm import Realm
from access.services.logging import log_access

PREFIX: Final = "cfk_"
HINT_LENGTH: Final = len(PREFIX) + 6
_USE_IS_NOTED_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key and its secret, which cannot be had again."""

    key: ApiKey
    secret: str = field(repr=False)


class KeyEndedError(ValueError):
    """The key has expired or was revoked: it can be neither exchanged nor revoked again."""


@transaction.atomic
def issue_key(
    *,
    realm: Realm,
    application: str,
    scopes: Iterable[Scope],
    actor: Actor,
    now: datetime,
    expires_at: datetime | None = None,
    requests_per_minute: int = DEFAULT_REQUESTS_PER_MINUTE,
    reads_logged_percent: int = EVERY_READ,
    replaces: ApiKey | None = None,
    address: str | None = None,
) -> IssuedKey:
    """Make a key for one application in one realm."""
    secret = PREFIX + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        realm=realm,
        application=application,
        hint=secret[:HINT_LENGTH],
        secret_digest=_digest(secret),
        scopes=sorted(set(scopes)),
        requests_per_minute=requests_per_minute,
        reads_logged_percent=reads_logged_percent,
        created_at=now,
        created_by_id=actor.id,
        expires_at=expires_at,
        replaces=replaces,
    )
    _log(key, actor=actor, now=now, address=address)
    return IssuedKey(key, secret)


def find_key(*, secret: str, now: datetime) -> ApiKey | None:
    """Return the key that this secret opens now: neither revoked nor expired. One probe of its digest."""
    if not secret.startswith(PREFIX):
        return None
    return (
        ApiKey.objects.select_related("realm")
        .filter(secret_digest=_digest(secret))
        .filter(_lives_at(now))
        .first()
    )


def note_use(*, key: ApiKey, now: datetime) -> None:
    """Write down that the key was used, at most once a minute."""
    due = now - _USE_IS_NOTED_EVERY
    if key.last_used_at is not None and key.last_used_at > due:
        return
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=due)
    ApiKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)


@transaction.atomic
def rotate_key(
    *, key_id: int, overlap: timedelta, actor: Actor, now: datetime, address: str | None = None
) -> IssuedKey:
    """Make a key of the same kind, for as long as the old one was made for, and let that end after `overlap`.

    Raises KeyEndedError where the old one has ended or was exchanged before.
    """
    old = _lock_living(key_id, now=now)
    if ApiKey.objects.filter(replaces=old).exists():
        raise KeyEndedError(f"{old} was exchanged for another key already")
    lasts = None if old.expires_at is None else old.expires_at - old.created_at
    issued = issue_key(
        realm=old.realm,
        application=old.application,
        scopes=[Scope(scope) for scope in old.scopes],
        actor=actor,
        now=now,
        expires_at=None if lasts is None else now + lasts,
        requests_per_minute=old.requests_per_minute,
        reads_logged_percent=old.reads_logged_percent,
        replaces=old,
        address=address,
    )
    # Nothing ends at the very moment at which it was made: the database refuses that.
    end = max(now + overlap, old.created_at + timedelta(microseconds=1))
    if old.expires_at is None or end < old.expires_at:
        old.expires_at = end
        old.save(update_fields=["expires_at"])
        _log(old, actor=actor, now=now, address=address)
    return issued


@transaction.atomic
def revoke_key(*, key_id: int, actor: Actor, now: datetime, address: str | None = None) -> ApiKey:
    """End a key now and for ever. Raises KeyEndedError where it has ended."""
    key = _lock_living(key_id, now=now)
    key.revoked_at, key.revoked_by_id = now, actor.id
    key.save(update_fields=["revoked_at", "revoked_by_id"])
    _log(key, actor=actor, now=now, address=address)
    return key


def _lock_living(key_id: int, *, now: datetime) -> ApiKey:
    key = ApiKey.objects.select_for_update().get(pk=key_id)
    if key.revoked_at is not None:
        raise KeyEndedError(f"{key} was revoked")
    if key.expires_at is not None and key.expires_at <= now:
        raise KeyEndedError(f"{key} has expired")
    return key


def _lives_at(now: datetime) -> Q:
    return Q(revoked_at__isnull=True) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def _log(key: ApiKey, *, actor: Actor, now: datetime, address: str | None) -> None:
    log_access(
        actor=actor,
        action=AccessAction.CHANGE,
        target_kind=TargetKind.KEY,
        target_id=str(key.pk),
        realm_id=key.realm_id,
        now=now,
        address=address,
    )
