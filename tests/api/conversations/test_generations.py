"""Attempts: opened, opened again, ended in each way, listed with their cost."""

import json
from decimal import Decimal

import pytest
from django.db import connections

from access.models import AccessEntry
from access.models.log import AccessAction
from conversations.models import Generation, HeadMove, Message, RedactionSwitch
from tests.api.conversations.talking import ROOT, Talk, attempt, text
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


def end(talk, generation_id, how, body):
    return talk.client.post(f"{ROOT}/generations/{generation_id}/{how}", body)


@pytest.fixture
def opened(talk):
    return talk.ask("Where is order 1042?")["generation"]["id"]


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
    assert (refused.status_code, refused.json()["rule"]) == (409, "attempt-ended")


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
    raw = json.dumps({"response": response}).encode()
    address = f"{ROOT}/generations/{opened}/finish"
    answer = talk.client.generic("POST", address, raw, content_type="application/json")
    assert answer.status_code == 200, answer.json()
    assert answer.json()["message"] is None
    assert answer.json()["generation"]["status"] in ("interrupted", "failed")


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


def test_an_answer_is_regenerated_beside_the_first(talk, opened):
    talk.finish(opened, "On its way.")
    again = end(talk, opened, "regenerate", {"request_id": "r-2"})
    assert again.status_code == 201
    told = again.json()
    assert (told["message"], told["generation"]["leaf_id"]) == (None, talk.message_id(1))
    assert told["generation"]["requested_model"] == "claude-sonnet-4-5"
    assert end(talk, opened, "regenerate", {"request_id": "r-2"}).json()["is_new"] is False
    # Nothing has changed for the customer yet.
    assert told["head"] == {"message_id": talk.message_id(2), "move": 2}

    finished = talk.finish(told["generation"]["id"], "It is lost.")

    assert finished["message"]["branch_reason"] == "regenerate"
    assert finished["head"] == {"message_id": talk.message_id(3), "move": 3}
    assert talk.path() == ["Where is order 1042?", "It is lost."]
    versions = talk.get().json()["path"][1]["versions"]
    assert [version["seq"] for version in versions] == [2, 3]


def test_a_regenerated_answer_may_be_given_at_once(talk, opened):
    talk.finish(opened, "On its way.")
    body = {
        "request_id": "r-2",
        "model": "gpt-5",
        "dialect": "openai_chat",
        "answer": {"message": {"parts": [text("It is lost.")]}},
    }
    first, again = end(talk, opened, "regenerate", body), end(talk, opened, "regenerate", body)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["head"] == again.json()["head"] == {"message_id": talk.message_id(3), "move": 3}
    assert first.json()["message"]["dialect"] == "openai_chat"
    assert first.json()["generation"]["provider"] == "openai"


@pytest.mark.django_db(transaction=True)
def test_eight_regenerations_at_once_are_one(begin, client_of, issue):
    talk, issued = begin(), issue()
    opened = talk.ask("hello")["generation"]["id"]
    talk.finish(opened, "hi")
    body = {"request_id": "r-2", "answer": {"message": {"parts": [text("hello again")]}}}

    def post():
        answer = end(Talk(client_of(issued), talk.id), opened, "regenerate", body)
        connections.close_all()
        return answer.status_code, answer.json()["head"]["message_id"]

    outcomes = at_once(*[post] * 8)

    assert sorted(status for status, _ in outcomes) == [200] * 7 + [201]
    assert {head for _, head in outcomes} == {talk.message_id(3)}
    assert (Message.objects.count(), Generation.objects.count()) == (3, 2)
    assert HeadMove.objects.count() == 3


def test_a_purged_branch_is_not_regenerated(talk, opened):
    Generation.objects.update(leaf_seq=None)
    answer = end(talk, opened, "regenerate", {"request_id": "r-2"})
    assert (answer.status_code, answer.json()["rule"]) == (409, "leaf-gone")


def test_attempts_are_listed_in_order_with_failed_ones(talk, opened):
    end(talk, opened, "fail", {"error_code": "overloaded"})
    talk.post("/generations", attempt())
    talk.post("/generations", attempt(leaf_id=talk.message_id(1)))
    page = talk.get("/generations?limit=2").json()
    assert [(row["number"], row["status"]) for row in page["data"]] == [(1, "failed"), (2, "streaming")]
    assert [row["number"] for row in talk.client.get(page["next"]).json()["data"]] == [3]


def test_the_number_of_queries_of_the_list_is_fixed(talk, opened, django_assert_num_queries):
    talk.get("/generations")
    # The key; the reader's transaction, role and the end of both; the conversation; its attempts.
    with django_assert_num_queries(7):
        talk.get("/generations")
    for _ in range(6):
        talk.post("/generations", attempt())
    with django_assert_num_queries(7):
        talk.get("/generations")


def test_an_attempt_needs_a_message(talk):
    answer = talk.post("/generations", attempt())
    assert (answer.status_code, answer.json()["rule"]) == (409, "no-head")
    assert talk.post("/generations", attempt(leaf_id=talk.message_id(1))).status_code == 404


def test_a_summary_that_an_attempt_names_must_be_the_conversations(talk, opened):
    answer = talk.post("/generations", attempt(summary_id="01920000-0000-7000-8000-000000000000"))
    assert (answer.status_code, answer.json()["rule"]) == (404, "no-summary")


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
    raw = json.dumps({"message": {"parts": [text("hi")]}, "usage": usage}).encode()
    address = f"{ROOT}/generations/{opened}/finish"
    answer = talk.client.generic("POST", address, raw, content_type="application/json")
    assert answer.status_code == 200, answer.json()


def test_usage_nested_past_any_reader_is_refused(talk, opened):
    raw = b'{"usage":{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}}"
    address = f"{ROOT}/generations/{opened}/finish"
    answer = talk.client.generic("POST", address, raw, content_type="application/json")
    assert (answer.status_code, answer.json()["rule"]) == (422, "usage-not-storable")


@pytest.mark.parametrize("spelled", ["g1", "x.g1", "{id}.m1", "{id}.g0", "{id}.g9", "{id}.g99999999999"])
def test_an_attempt_that_is_not_there(talk, spelled):
    for how in ("", "/replay-body"):
        address = f"{ROOT}/generations/{spelled.format(id=talk.id)}{how}"
        assert talk.client.get(address).status_code == 404
    for how in ("finish", "fail", "cancel", "regenerate"):
        assert end(talk, spelled.format(id=talk.id), how, {"request_id": "r"}).status_code == 404


def test_secrets_are_cut_before_anything_is_compared(talk, realm):
    RedactionSwitch.objects.create(realm=realm, kinds=["card"], set_at="2026-01-01T00:00:00Z")
    body = attempt("r-1")
    first = talk.append(text("my card is 4242 4242 4242 4242"), generation=body)
    again = talk.append(text("my card is 4242 4242 4242 4242"), generation=body, status=200)
    assert again["message"]["id"] == first["message"]["id"]
    assert talk.path() == ["my card is [cut: card number]"]


def test_a_late_report_of_usage_replaces_the_estimate_once(talk, opened):
    end(talk, opened, "fail", {"status": "interrupted"})
    late = {"usage": {"input_tokens": 100, "output_tokens": 40}}

    told = end(talk, opened, "usage", late)
    assert told.status_code == 200
    assert told.json()["tokens"]["output"] == 40
    assert told.json()["cost_confidence"] == "exact"
    assert end(talk, opened, "usage", late).json() == told.json()
    other = end(talk, opened, "usage", {"usage": {"input_tokens": 100, "output_tokens": 41}})
    assert (other.status_code, other.json()["rule"]) == (409, "usage-corrected")


def test_an_answer_that_told_its_usage_is_not_corrected(talk, opened):
    talk.finish(opened, "On its way.", usage={"input_tokens": 100, "output_tokens": 10})
    refused = end(talk, opened, "usage", {"usage": {"input_tokens": 1, "output_tokens": 1}})
    assert (refused.status_code, refused.json()["rule"]) == (409, "usage-known")
