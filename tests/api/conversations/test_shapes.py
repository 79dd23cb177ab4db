"""Answers against the shapes that describe them: every member is described, and no described one missing."""

from typing import Any

import jsonschema
import pytest
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from access.actors import Actor, ActorKind
from conversations.models import Account
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from tests.api.conversations.talking import ANSWER, REQUEST, ROOT, attempt, text

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The API's description, made strict: a member that it does not name is a fault."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    for component in schema["components"]["schemas"].values():
        if "properties" in component:
            component["additionalProperties"] = False
    return schema


def check(described, answer, path, method="get"):
    operation = described["paths"][f"{ROOT}{path}"][method]
    responses = operation["responses"]
    content = responses[str(answer.status_code)]["content"]
    root = {**content["application/json"]["schema"], "components": described["components"]}
    errors = list(jsonschema.Draft202012Validator(root).iter_errors(answer.json()))
    assert [f"{error.json_path}: {error.message[:200]}" for error in errors] == []


@pytest.fixture
def full(answered):
    """A conversation with versions, calls, an image, a summary, a recorded exchange and a failed attempt."""
    answered.append(
        text("Look"),
        {"type": "tool_use", "tool_call_id": "t1", "tool_name": "get_order"},
        role="assistant",
        dialect="anthropic_messages",
        below_id=answered.message_id(1),
    )
    answered.post("/tool-results", {"parts": [{"type": "tool_result", "tool_call_id": "t1", "text": "ok"}]})
    answered.append({"type": "image", "media_type": "image/png", "data": "aGkh" * 12_000})
    answered.post("/messages/1/edit", {"parts": [text("two")], "occurred_at": "2026-01-01T00:00:00Z"})
    failed = answered.post("/generations", attempt()).json()["generation"]["id"]
    answered.client.post(f"{ROOT}/generations/{failed}/fail", {"error_message": "no", "http_status": 529})
    record_exchange(
        account=Account.objects.get(),
        request_body=REQUEST,
        response_body=ANSWER,
        dialect=Dialect.ANTHROPIC_MESSAGES,
        actor=Actor(ActorKind.APPLICATION, "1"),
        now=timezone.now(),
        http_status=200,
        conversation_id=answered.id,
        request_id="r-1",
    )
    answered.post(
        "/summaries",
        {
            "from_id": answered.message_id(1),
            "to_id": answered.message_id(2),
            "text": "They talked.",
            "prompt_version": "s1",
            "is_pinned": True,
        },
    )
    return answered


@pytest.mark.parametrize(
    "address",
    [
        *("", "/tree", "/head", "/head-moves", "/messages", "/generations", "/summaries"),
        *("?as_of=2", "?as_of=2001-01-01T00:00:00Z", "/context?budget=100&leaf_id={id}.m2"),
    ],
)
def test_what_is_read_of_a_conversation(described, full, address):
    answer = full.get(address.format(id=full.id))
    assert answer.status_code == 200
    path = "/conversations/{conversation_id}" + address.partition("?")[0]
    check(described, answer, path)


def test_what_is_read_one_by_one(described, full):
    told = full.get("/tree").json()["nodes"]
    for node in told:
        check(
            described, full.get(f"/messages/{node['seq']}"), "/conversations/{conversation_id}/messages/{seq}"
        )
    for generation in full.get("/generations").json()["data"]:
        answer = full.client.get(f"{ROOT}/generations/{generation['id']}")
        check(described, answer, "/generations/{generation_id}")
    check(described, full.client.get(f"{ROOT}/conversations"), "/conversations")
    body = full.get("/next-body", HTTP_ACCEPT="application/json")
    check(described, body, "/conversations/{conversation_id}/next-body")


def test_what_is_told_of_writes(described, full):
    base = "/conversations/{conversation_id}"
    asked = full.post("/messages", {"parts": [text("more")], "generation": attempt("r-7")})
    check(described, asked, f"{base}/messages", "post")
    again = full.post("/messages", {"parts": [text("more")], "generation": attempt("r-7")})
    assert again.status_code == 200
    check(described, again, f"{base}/messages", "post")
    generation = asked.json()["generation"]["id"]
    for how, body in (
        ("regenerate", {"request_id": "r-8"}),
        ("finish", {"message": {"parts": [text("answer")]}}),
    ):
        answer = full.client.post(f"{ROOT}/generations/{generation}/{how}", body)
        check(described, answer, f"/generations/{{generation_id}}/{how}", "post")
    moved = full.client.put(f"{full.url}/head", {"message_id": full.message_id(1)})
    check(described, moved, f"{base}/head", "put")
    check(described, full.post("/fork", {"leaf_id": full.message_id(2)}), f"{base}/fork", "post")
    cut = {"message_id": full.message_id(1), "spans": [[0, 5]], "chunking_version": "c"}
    chunks = full.post("/chunks", cut)
    check(described, chunks, f"{base}/chunks", "post")
    citation = full.get(f"/chunks/{chunks.json()['data'][0]['id']}/citation")
    check(described, citation, f"{base}/chunks/{{chunk_id}}/citation")
