"""Attempts end with an answer, as the provider's own or in parts, or without one."""

import json
from decimal import Decimal

import pytest
from django.db import connections

from access.models import AccessEntry
from access.models.log import AccessAction
from conversations.models import Generation, Message
from tests.api.answers import post_raw, refusal
from tests.api.conversations.talking import ROOT, Talk, end, text
from tests.conversations.writers import at_once

pytestmark = pytest.mark.django_db


RESPONSE = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"type": "text", "text": "It arrives tomorrow."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 100, "output_tokens": 10},
}


def test_an_answer_goes_below_the_question_with_its_cost(talk, opened):
    told = talk.finish(
        opened,
        "On its way.",
        stop_reason="end_turn",
        served_model="claude-sonnet-4-5-20250929",
        usage={"input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 5},
        total_ms=900,
    )
    assert told["is_new"] is True
    assert told["message"]["parent_id"] == talk.message_id(1)
    assert told["head"] == {"message_id": talk.message_id(2), "move": 2}
    generation = told["generation"]
    assert (generation["status"], generation["message_id"]) == ("complete", talk.message_id(2))
    assert generation["tokens"]["uncached_input"] == 100
    assert generation["tokens"]["cache_read"] == 5
    assert generation["total_ms"] == 900
    # 100 at 3, 5 at 0.30 and 10 at 15 dollars a million.
    assert (Decimal(generation["cost_usd"]), generation["cost_confidence"]) == (
        Decimal("0.0004515"),
        "exact",
    )


def test_ending_again_in_the_same_way_returns_what_is_stored(talk, opened):
    first = talk.finish(opened, "On its way.")
    again = talk.finish(opened, "On its way.")
    assert again["is_new"] is False
    assert again["generation"] == first["generation"]
    assert again["message"] == first["message"]
    assert Message.objects.count() == 2
    refused = end(talk, opened, "fail", {})
    assert refusal(refused) == (409, "attempt-ended")


@pytest.mark.parametrize("exact", [True, False])
def test_a_providers_answer_is_read_whole(talk, opened, exact):
    response = json.dumps(RESPONSE, indent=1) if exact else RESPONSE
    answer = end(talk, opened, "finish", {"response": response, "total_ms": 5})
    assert answer.status_code == 200
    generation = answer.json()["generation"]
    assert generation["served_model"] == "claude-sonnet-4-5-20250929"
    assert (generation["stop_reason"], generation["provider_response_id"]) == ("end_turn", "msg_01")
    assert generation["tokens"]["output"] == 10
    assert talk.path()[-1] == "It arrives tomorrow."


def test_a_providers_stream_is_read_whole(talk, opened):
    events = [
        {"type": "message_start", "message": {**RESPONSE, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "To"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "morrow"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "max_tokens"},
            "usage": {"output_tokens": 2},
        },
        {"type": "message_stop"},
    ]
    stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    answer = end(talk, opened, "finish", {"response": stream})
    assert answer.json()["generation"]["status"] == "truncated"
    assert talk.path()[-1] == "Tomorrow"


@pytest.mark.parametrize("response", ["no json", "{}", '{"a":' * 50_000 + "1" + "}" * 50_000, "\ud800"])
def test_an_answer_that_is_none_ends_the_attempt_without_a_message(talk, opened, response):
    answer = post_raw(talk.client, f"{ROOT}/generations/{opened}/finish", {"response": response})
    assert answer.status_code == 200, answer.json()
    assert answer.json()["message"] is None
    assert answer.json()["generation"]["status"] in ("interrupted", "failed")


ODD_REFUSAL = (
    '{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"refusal",'
    '"stop_details":{"category":"ODD","explanation":"an ODD word"}}'
)
ODD_STREAM = (
    'data: {"type":"message_start","message":{"id":"ODD"}}\n\n'
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}\n\n'
    'data: {"type":"message_start","message":{"id":"other"}}\n\n'
)
ODD_ERROR = '{"type":"error","error":{"type":"ODD","message":"an ODD word"}}'


@pytest.mark.parametrize("odd", ["\\u0000", "\\ud800"])
@pytest.mark.parametrize("response", [ODD_REFUSAL, ODD_STREAM, ODD_ERROR])
def test_what_no_column_holds_in_a_providers_answer_is_marked(talk, opened, response, odd):
    answer = end(talk, opened, "finish", {"response": response.replace("ODD", odd)})
    assert answer.status_code == 200, answer.content
    told = Generation.objects.get(number=1)
    words = [told.error_code, told.error_message, told.provider_response_id, *told.notes]
    assert "\ufffd" in "".join(words)


def test_a_failure_keeps_its_row_and_its_cost(talk, opened):
    body = {
        "error_code": "overloaded_error",
        "error_message": "Overloaded: “Where is order 1042?”",
        "http_status": 529,
        "usage": {"input_tokens": 100, "output_tokens": 0},
    }
    told = end(talk, opened, "fail", body).json()
    assert (told["message"], told["generation"]["status"]) == (None, "failed")
    assert Decimal(told["generation"]["cost_usd"]) > 0
    assert "error_message" not in told["generation"]
    assert talk.path() == ["Where is order 1042?"]

    detail = talk.client.get(f"{ROOT}/generations/{opened}").json()
    assert detail["error_message"] == body["error_message"]
    entry = AccessEntry.objects.filter(action=AccessAction.API_READ).latest("id")
    assert (entry.target_kind, entry.target_id) == ("attempt", opened)


def test_an_attempt_that_nobody_waits_for(talk, opened):
    assert end(talk, opened, "cancel", {}).json()["generation"]["status"] == "cancelled"
    assert end(talk, opened, "cancel", {}).json()["is_new"] is False


@pytest.mark.parametrize("how", ["finish", "fail", "cancel"])
@pytest.mark.django_db(transaction=True)
def test_eight_endings_at_once_are_one(begin, client_of, issue, how):
    talk, issued = begin(), issue()
    opened = talk.ask("hello")["generation"]["id"]
    body = {"finish": {"message": {"parts": [text("hi")]}}}.get(how, {})

    def post():
        answer = end(Talk(client_of(issued), talk.id), opened, how, body)
        connections.close_all()
        return answer.status_code, answer.json()["is_new"]

    assert sorted(at_once(*[post] * 8)) == [(200, False)] * 7 + [(200, True)]
    assert Message.objects.count() == (2 if how == "finish" else 1)


@pytest.mark.parametrize(
    ("how", "body"),
    [
        ("finish", {"message": {"parts": "no"}}),
        ("finish", {"message": {"parts": []}, "response": {}}),
        ("finish", {"status": "failed"}),
        ("finish", {"usage": [1]}),
        ("finish", {"total_ms": -1}),
        ("finish", {"total_ms": 2**31}),
        ("fail", {"status": "complete"}),
        ("fail", {"http_status": 99_999}),
        ("regenerate", {}),
        ("regenerate", {"request_id": "x", "attempt": 0}),
        ("regenerate", {"request_id": "x" * 256}),
    ],
)
def test_an_ending_that_cannot_be_read_changes_nothing(talk, opened, how, body):
    assert end(talk, opened, how, body).status_code == 400
    assert Generation.objects.get().finished_at is None


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": "many", "output_tokens": None},
        {"input_tokens": 10**30},
        {"a\x00b": "c\ud800"},
        {"x": [[[1.5, "e"]]]},
    ],
)
def test_odd_usage_is_kept_as_far_as_it_can_be(talk, opened, usage):
    body = {"message": {"parts": [text("hi")]}, "usage": usage}
    answer = post_raw(talk.client, f"{ROOT}/generations/{opened}/finish", body)
    assert answer.status_code == 200, answer.json()


def test_usage_nested_past_any_reader_is_refused(talk, opened):
    raw = b'{"usage":{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}}"
    answer = post_raw(talk.client, f"{ROOT}/generations/{opened}/finish", raw)
    assert refusal(answer) == (422, "usage-not-storable")
