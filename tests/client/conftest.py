"""Real SDKs, a provider on this machine, and the real API on PostgreSQL behind a gateway that can fail."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from django.core.cache import cache
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from access.actors import Actor, ActorKind
from access.models import Realm, Scope
from access.services.keys import issue_key
from counterfoil_recorder import Limits, Recorder
from evidence.replay_server import ReplayServer, Reply, serving
from tests.client.gateway import Gateway

STAFF = Actor(ActorKind.STAFF, "1")


def message(text: str = "hello", **changes: Any) -> bytes:
    """Write an answer of the Messages API."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    return json.dumps(body | changes).encode()


def message_stream(*texts: str) -> bytes:
    """Write the events of the same answer, one delta for each text."""
    began = json.loads(message()) | {"content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": began}]
    block = {"type": "text", "text": ""}
    events.append({"type": "content_block_start", "index": 0, "content_block": block})
    for text in texts:
        delta = {"type": "text_delta", "text": text}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events.append({"type": "content_block_stop", "index": 0})
    ending = {"stop_reason": "end_turn", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 2}})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def streamed(*texts: str, **how: Any) -> Reply:
    told = {"media_type": "text/event-stream", "pieces": len(texts) + 5} | how
    return Reply(message_stream(*texts), **told)


class Provider(ReplayServer):
    """Answers `answer` to every call, or each of `answers` by its name."""

    def __init__(self) -> None:
        self.answer = Reply(message())
        self.answers: dict[str, Reply] = {}
        super().__init__(lambda name: self.answers.get(name, self.answer))


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    with serving(server):
        yield server


@pytest.fixture
def realm(transactional_db: None) -> Realm:
    cache.clear()
    return Realm.objects.create(slug="north", name="North", created_at=timezone.now())


@pytest.fixture
def key(realm: Realm) -> str:
    now = timezone.now()
    issued = issue_key(
        realm=realm,
        application="shop",
        scopes=[Scope.WRITE],
        actor=STAFF,
        now=now,
        expires_at=now + timedelta(days=1),
        requests_per_minute=1_000_000,
    )
    return issued.secret


@pytest.fixture
def store(live_server: LiveServer) -> Iterator[Gateway]:
    gateway = Gateway(live_server.url)
    gateway.open()
    yield gateway
    gateway.release.set()
    gateway.close()


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def make_recorder(store: Gateway, key: str, spool: Path) -> Iterator[Callable[..., Recorder]]:
    made: list[Recorder] = []

    def make(**changes: Any) -> Recorder:
        told = {"url": store.url, "key": key, "spool": spool, "timeout": 5.0, "limits": Limits()}
        made.append(Recorder(**told | changes))
        return made[-1]

    yield make
    for recorder in made:
        recorder.close(timeout=0)


@pytest.fixture
def recorder(make_recorder: Callable[..., Recorder]) -> Recorder:
    return make_recorder()


@pytest.fixture
def claude(recorder: Recorder, provider: Provider) -> anthropic.Anthropic:
    return claude_of(recorder, provider)


def claude_of(recorder: Recorder, provider: Provider, **changes: Any) -> anthropic.Anthropic:
    told = {"max_retries": 0} | changes
    return anthropic.Anthropic(
        api_key="sk-ant-secret",
        base_url=provider.url,
        http_client=recorder.record(anthropic.DefaultHttpxClient()),
        **told,
    )


def async_claude_of(recorder: Recorder, provider: Provider) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(
        api_key="sk-ant-secret",
        base_url=provider.url,
        max_retries=0,
        http_client=recorder.record(anthropic.DefaultAsyncHttpxClient()),
    )


def gpt_of(recorder: Recorder, provider: Provider) -> openai.OpenAI:
    return openai.OpenAI(
        api_key="sk-secret",
        base_url=f"{provider.url}/v1",
        max_retries=0,
        http_client=recorder.record(openai.DefaultHttpxClient()),
    )


def ask(client: Any, text: str = "hi", **changes: Any) -> Any:
    told = {"max_tokens": 64, "model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": text}]}
    return client.messages.create(**told | changes)


def files(spool: Path) -> list[Path]:
    return sorted(spool.rglob("*.exchange"))


def wait_until(is_so: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)
