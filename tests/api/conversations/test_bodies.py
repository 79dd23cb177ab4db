"""Bytes: what was sent, what going on would send, what fits a budget."""

import base64
import hashlib
import json

import pytest
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from access.models.log import AccessAction
from conversations.models import Account, MessagePart
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from tests.api.answers import refusal
from tests.api.conversations.talking import ANSWER, REQUEST, ROOT, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def recorded(talk):
    record_exchange(
        account=Account.objects.get(),
        request_body=REQUEST,
        response_body=ANSWER,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=Actor(ActorKind.APPLICATION, "1"),
        now=timezone.now(),
        http_status=200,
        conversation_id=talk.id,
    )
    return talk


def digest_of(answer):
    return base64.b64decode(answer["Content-Digest"].removeprefix("sha-256=:").removesuffix(":"))


@pytest.mark.parametrize("accept", ["*/*", "application/octet-stream", "application/json"])
def test_what_was_sent_comes_back_byte_for_byte(recorded, accept):
    answer = recorded.client.get(f"{ROOT}/generations/{recorded.id}.g1/replay-body", HTTP_ACCEPT=accept)
    assert (answer.status_code, answer.content) == (200, REQUEST)
    assert answer["Content-Type"] == "application/octet-stream"
    assert digest_of(answer) == hashlib.sha256(REQUEST).digest()
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.target_id) == ("attempt", f"{recorded.id}.g1")


def test_what_was_taken_away_says_so(recorded):
    MessagePart.objects.filter(seq=1).update(text=None, bytes_state="stripped")
    answer = recorded.client.get(f"{ROOT}/generations/{recorded.id}.g1/replay-body")
    assert refusal(answer) == (410, "body-gone")
    assert answer["Content-Type"] == "application/problem+json"
    assert "message 1, block 0" in answer.json()["detail"]


def test_an_attempt_whose_body_was_never_seen(answered):
    answer = answered.client.get(f"{ROOT}/generations/{answered.id}.g1/replay-body")
    assert refusal(answer) == (404, "no-body")


def test_the_next_body_goes_on_from_the_head_or_from_a_leaf(recorded):
    recorded.append(text("And order 7?"))
    body = recorded.get("/next-body")
    assert body["Content-Type"] == "application/octet-stream"
    assert digest_of(body) == hashlib.sha256(body.content).digest()
    sent = json.loads(body.content)
    assert (sent["model"], sent["system"]) == ("claude-sonnet-4-5", "Be brief.")
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "user"]
    assert body.content.startswith(REQUEST[: len(REQUEST) - 2])

    earlier = json.loads(recorded.get(f"/next-body?leaf_id={recorded.message_id(1)}").content)
    assert len(earlier["messages"]) == 1


def test_the_next_body_told_with_what_it_breaks(recorded):
    told = recorded.get("/next-body", HTTP_ACCEPT="application/json").json()
    assert told["leaf_id"] == recorded.message_id(2)
    assert told["sha256"] == hashlib.sha256(told["body"].encode()).hexdigest()
    assert [violation["place"] for violation in told["violations"]] == ["message 2"]


def test_the_next_body_in_another_dialect(recorded):
    refused = recorded.get("/next-body?dialect=openai_chat")
    assert refusal(refused) == (409, "body-not-given")
    sent = json.loads(recorded.get("/next-body?dialect=openai_chat&model=gpt-5").content)
    assert sent["model"] == "gpt-5"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?leaf_id=m1", 404),
        ("?leaf_id={id}.m9", 404),
        ("?dialect=french", 400),
        ("?model=" + "x" * 256, 400),
    ],
)
def test_a_next_body_that_cannot_be(recorded, query, status):
    assert recorded.get(f"/next-body{query.format(id=recorded.id)}").status_code == status


def test_a_conversation_without_messages_has_no_next_body_and_no_context(talk):
    assert talk.get("/next-body").status_code == 409
    assert talk.get("/context?budget=10").status_code == 409


def test_a_context_holds_to_its_budget(talk):
    for number in range(1, 6):
        talk.append(text(f"say {number}"), token_count=10)
    told = talk.get("/context?budget=25").json()
    assert [message["parts"][0]["text"] for message in told["messages"]] == ["say 4", "say 5"]
    assert (told["tokens"], told["leaf_id"]) == (20, talk.message_id(5))
    assert told["left_out"] == [talk.message_id(seq) for seq in (1, 2, 3)]

    summary = {
        "from_id": talk.message_id(1),
        "to_id": talk.message_id(3),
        "text": "They said one to three.",
        "prompt_version": "s1",
        "token_count": 4,
        "is_pinned": True,
    }
    assert talk.post("/summaries", summary).status_code == 201
    told = talk.get(f"/context?budget=25&leaf_id={talk.message_id(4)}").json()
    assert [one["text"] for one in told["summaries"]] == ["They said one to three."]
    assert [message["seq"] for message in told["messages"]] == [3, 4]
    assert told["tokens"] == 24
    assert talk.get("/context?budget=0").json()["messages"] == []


@pytest.mark.parametrize("budget", ["", "-1", "x", "2147483648", "1.5", "²", "9" * 400])
def test_a_budget_that_is_none(answered, budget):
    assert answered.get(f"/context?budget={budget}").status_code == 400
