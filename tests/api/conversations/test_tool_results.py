"""Calls and their results, in every dialect."""

import json

import pytest

from conversations.models import Message
from tests.api.answers import refusal
from tests.api.conversations.talking import attempt, call, parts_of, text

pytestmark = pytest.mark.django_db


def result(call_id="toolu_1", words="in transit", **fields):
    return {"type": "tool_result", "tool_call_id": call_id, "text": words, **fields}


@pytest.mark.parametrize("dialect", ["anthropic_messages", "openai_chat", "openai_responses", None])
def test_a_tool_loop_in_every_dialect(talk, dialect):
    spoken = {} if dialect is None else {"dialect": dialect}
    talk.append(text("Where is it?"), **spoken)
    talk.append(text("Let me look."), call("call_1"), call("call_2"), role="assistant", **spoken)
    assert talk.post("/messages", {"parts": [text("and?")], **spoken}).json()["rule"] == "call-unanswered"

    answer = talk.post(
        "/tool-results",
        {
            "parts": [result("call_1"), result("call_2", "no such order", status="error")],
            "calls": [{"tool_call_id": "call_1", "duration_ms": 180}],
        },
    )

    assert answer.status_code == 201, answer.json()
    assert answer.json()["message"]["answers_id"] == talk.message_id(2)
    words, first, second = parts_of(talk, 2)
    assert words["text"] == "Let me look."
    assert first["call"] == {"status": "succeeded", "error_code": "", "duration_ms": 180}
    assert second["call"]["status"] == "failed"
    assert json.loads(first["block"])
    assert [part["text"] for part in parts_of(talk, 3)] == ["in transit", "no such order"]
    followed = talk.append(text("It is on its way."), role="assistant", **spoken)
    assert followed["message"]["parent_id"] == talk.message_id(3)
    body = talk.get(f"/next-body?dialect={dialect or 'openai_chat'}&model=m", HTTP_ACCEPT="application/json")
    assert body.status_code == 200, body.json()
    refused = [one for one in body.json()["violations"] if one["strength"] == "refuse"]
    # Anthropic's newer models take no body that ends with the assistant.
    assert [one["rule"] for one in refused if "prefill" not in one["rule"]] == []


@pytest.mark.parametrize(
    "repeated",
    [
        pytest.param({"client_message_id": "m-1"}, id="client id"),
        pytest.param({"generation": attempt("r-1")}, id="request id"),
    ],
)
def test_results_that_arrive_again_late_are_known_in_whatever_dialect_the_head_is_now(talk, repeated):
    talk.append(text("Where is it?"), dialect="anthropic_messages")
    talk.append(call(), role="assistant", dialect="anthropic_messages")
    body = {"parts": [result()], **repeated}
    first = talk.post("/tool-results", body)
    assert (first.status_code, first.json()["message"]["role"]) == (201, "user")
    talk.append(text("It is on its way."), role="assistant", dialect="anthropic_messages")
    talk.append(text("Thank you"))

    again = talk.post("/tool-results", body)

    assert again.status_code == 200, again.json()
    assert again.json()["message"] == first.json()["message"]


@pytest.mark.parametrize(
    ("parts", "rule"),
    [
        ([result("toolu_9")], "result-without-call"),
        ([result(), result()], "call-answered-twice"),
        ([text("no result")], "call-unanswered"),
    ],
)
def test_results_that_answer_nothing_are_refused(talk, parts, rule):
    talk.append(text("Where is it?"), dialect="anthropic_messages")
    talk.append(call(), role="assistant", dialect="anthropic_messages")
    answer = talk.post("/tool-results", {"parts": parts})
    assert answer.status_code == 422, answer.json()
    assert Message.objects.count() == 2


def test_an_ending_without_its_result_is_refused(talk):
    talk.append(text("Where is it?"))
    talk.append(call(), role="assistant")
    answer = talk.post("/tool-results", {"parts": [result()], "calls": [{"tool_call_id": "toolu_2"}]})
    assert refusal(answer) == (404, "ending-without-result")
    assert Message.objects.count() == 2
