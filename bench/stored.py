"""What the measurements over HTTP leave in the bench's database: under one realm, and gone at their end."""

from datetime import UTC, datetime, timedelta
from typing import Final

REALM: Final = "bench-http"
ACCOUNT: Final = "captured"


def issue_key() -> str:
    """Return the secret of a key that may write and has no limit that matters."""
    from access.actors import Actor, ActorKind
    from access.models import Realm, Scope
    from access.services import keys

    now = datetime.now(UTC)
    realm, _ = Realm.objects.get_or_create(slug=REALM, defaults={"name": "Bench", "created_at": now})
    issued = keys.issue_key(
        realm=realm,
        application="bench",
        scopes=[Scope.WRITE],
        actor=Actor(ActorKind.STAFF, "bench"),
        now=now,
        expires_at=now + timedelta(hours=2),
        requests_per_minute=100_000_000,
    )
    return issued.secret


def exchanges() -> int:
    from conversations.models import Exchange

    return Exchange.objects.filter(realm__slug=REALM).count()


def generations() -> int:
    from conversations.models import Generation

    return Generation.objects.filter(conversation__account__realm__slug=REALM).count()


def forget() -> None:
    """Leave the corpus as it was: other measurements weigh it."""
    from conversations.models import Account, Conversation

    Conversation.objects.filter(account__realm__slug=REALM).delete()
    Account.objects.filter(realm__slug=REALM).delete()
