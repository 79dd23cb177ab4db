"""Keys, and a client that shows one: what every test of the API starts from."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from rest_framework.test import APIClient

from access.actors import Actor, ActorKind
from access.models import Realm, Scope
from access.services.keys import IssuedKey, issue_key

STAFF = Actor(ActorKind.STAFF, "1")


@pytest.fixture(autouse=True)
def no_requests_counted() -> None:
    """The rate of a key is counted in the cache, which a test's rollback does not undo."""
    cache.clear()


@pytest.fixture
def realm(db: None) -> Realm:
    return Realm.objects.create(slug="north", name="North", created_at=timezone.now())


@pytest.fixture
def other_realm(db: None) -> Realm:
    return Realm.objects.create(slug="south", name="South", created_at=timezone.now())


@pytest.fixture
def issue(realm: Realm) -> Callable[..., IssuedKey]:
    """Issue a key; every scope and a day to live, unless said otherwise."""

    def issue(**changes: Any) -> IssuedKey:
        now = timezone.now()
        told: dict[str, Any] = {
            "realm": realm,
            "application": "shop",
            "scopes": list(Scope),
            "actor": STAFF,
            "now": now,
            "expires_at": now + timedelta(days=1),
        }
        return issue_key(**(told | changes))

    return issue


@pytest.fixture
def client_of() -> Callable[[IssuedKey], APIClient]:
    def client_of(issued: IssuedKey) -> APIClient:
        client = APIClient()
        client.default_format = "json"
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.secret}")
        return client

    return client_of


@pytest.fixture
def client(issue: Callable[..., IssuedKey], client_of: Callable[[IssuedKey], APIClient]) -> APIClient:
    """A client whose key has every scope in the realm `north`."""
    return client_of(issue())


@pytest.fixture
def stranger(
    issue: Callable[..., IssuedKey], client_of: Callable[[IssuedKey], APIClient], other_realm: Realm
) -> APIClient:
    """A client whose key has every scope in another realm."""
    return client_of(issue(realm=other_realm))
