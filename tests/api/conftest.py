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
from tests.api.effects import register
from tests.api.tenancy import Things

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


@pytest.fixture
def ours(client: APIClient, realm: Realm) -> Things:
    """One of everything in the realm `north`, made through the API."""
    root = "/api/v1"

    def post(path: str, body: dict[str, Any], **headers: str) -> Any:
        answer = client.post(f"{root}/{path}", body, **headers)
        assert answer.status_code in (200, 201, 202), answer.content
        return answer.json()

    register(realm)
    conversation = post("conversations", {"account": {"external_id": "cus-1"}})
    talk = f"conversations/{conversation['id']}"
    attempt = {"request_id": "r-1", "model": "claude-sonnet-4-5", "dialect": "anthropic_messages"}
    asked = post(f"{talk}/messages", {"parts": [{"type": "text", "text": "hello"}], "generation": attempt})
    message = asked["message"]["id"]
    chunks = post(f"{talk}/chunks", {"message_id": message, "spans": [[0, 1]], "chunking_version": "c"})
    arguments = {"amount": 1900, "currency": "usd"}
    call = {
        "type": "tool_use",
        "tool_call_id": "toolu_1",
        "tool_name": "charge_card",
        "arguments": arguments,
    }
    unknown = call | {"tool_call_id": "toolu_2", "tool_name": "nobody_registered"}
    calling = post(f"{talk}/messages", {"role": "assistant", "parts": [call, unknown]})["message"]["id"]
    effect = post("effects", {"message_id": calling, "call_id": "toolu_1"})["effect"]
    question = post("effects", {"message_id": calling, "call_id": "toolu_2"})["question"]
    hold = post("holds", {"conversation_id": conversation["id"], "matter": "M-7"})
    erasure = post("erasures", {"accounts": ["cus-1"]})
    job = post(
        "jobs",
        {"kind": "conversations.verify_replay", "parameters": {"conversation": conversation["id"]}},
    )
    return Things(
        {
            "conversation": conversation["id"],
            "message": message,
            "calling": calling,
            "generation": asked["generation"]["id"],
            "chunk": chunks["data"][0]["id"],
            "effect": effect["id"],
            "question": question["id"],
            "hold": hold["id"],
            "erasure": erasure["number"],
            "job": job["id"],
            "account": conversation["account"]["id"],
            "external_id": "cus-1",
        }
    )
