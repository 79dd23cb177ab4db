"""Who the proofs record for: one realm, and a customer's account for each conversation or file."""

from datetime import UTC, datetime
from itertools import count

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.models import Account
from conversations.services.accounts import ensure_account

NOW = datetime(2026, 3, 9, 14, 3, tzinfo=UTC)
RECORDER = Actor(kind=ActorKind.APPLICATION, id="evidence")
_numbers = count(1)


def new_account() -> Account:
    realm, _ = Realm.objects.get_or_create(slug="evidence", defaults={"name": "Evidence", "created_at": NOW})
    return ensure_account(realm=realm, external_id=f"account-{next(_numbers)}", now=NOW)
