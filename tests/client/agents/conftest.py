"""Sessions on the real API, and the SDK's own session beside them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import agents
import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from access.models import Realm, Scope
from access.services.keys import issue_key
from counterfoil_recorder.agents import CounterfoilSession
from tests.client.conftest import STAFF

agents.set_tracing_disabled(True)


def do[T](work: Coroutine[Any, Any, T]) -> T:
    """Run in an event loop of its own: a session outlives the loops that use it."""
    return asyncio.run(work)


@pytest.fixture
def session_key(realm: Realm) -> str:
    now = timezone.now()
    issued = issue_key(
        realm=realm,
        application="assistant",
        scopes=[Scope.READ, Scope.WRITE],
        actor=STAFF,
        now=now,
        expires_at=now + timedelta(days=1),
        requests_per_minute=1_000_000,
    )
    return issued.secret


@pytest.fixture
def make_session(live_server: LiveServer, session_key: str) -> Iterator[Callable[..., CounterfoilSession]]:
    made: list[CounterfoilSession] = []

    def make(session_id: str = "chat-42", **changes: Any) -> CounterfoilSession:
        told: dict[str, Any] = {"account": "customer-7", "url": live_server.url, "key": session_key} | changes
        made.append(CounterfoilSession(session_id, **told))
        return made[-1]

    yield make
    for session in made:
        session.close()


@pytest.fixture
def session(make_session: Callable[..., CounterfoilSession]) -> CounterfoilSession:
    return make_session()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own sessions keep their files where they are called."""
    monkeypatch.chdir(tmp_path)
