"""Answers that broke off, grew, were several, or never came."""

import json

from conversations.models import Generation, MessagePart, RawBody
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import body, stream, tree, user

STARTED = {
    "type": "message_start",
    "message": {
        "id": "msg_I1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 60, "output_tokens": 1},
    },
}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}


def words(piece) -> dict:
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}


def test_an_interrupted_stream_keeps_what_arrived_and_says_so(record):
    told = stream(STARTED, BLOCK, words("Your refund of"))

    exchange = record(body(user("Hi"), stream=True), told)

    attempt = Generation.objects.get()
    assert (exchange.status, exchange.answer_seq) == ("interrupted", 2)
    assert MessagePart.objects.get(seq=2).text == "Your refund of"
    assert attempt.output_tokens is None
    assert attempt.cost_confidence == "estimated"
    assert RawBody.objects.get(id=attempt.raw_response_id).raw_class == "stream"


def test_usage_that_grows_in_a_stream_is_taken_over_not_added(record):
    start = json.loads(json.dumps(STARTED))
    start["message"]["usage"] = {"input_tokens": 40, "cache_read_input_tokens": 0, "output_tokens": 1}
    told = stream(
        start,
        {"type": "ping"},
        BLOCK,
        words("Hi"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 18}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 2140, "cache_read_input_tokens": 300, "output_tokens": 31},
        },
        {"type": "message_stop"},
    )
    record(body(user("Hi"), stream=True), told)

    again = record(body(user("Hi"), stream=True), told)

    attempt = Generation.objects.get()
    assert again.was_known
    assert (attempt.uncached_input_tokens, attempt.cache_read_tokens, attempt.output_tokens) == (
        2140,
        300,
        31,
    )


def test_the_next_request_may_leave_out_an_answer_that_was_cut_off(record):
    first = record(body(user("Hi")), stream(STARTED, BLOCK, words("Your")))

    second = record(body(user("Hi"), user("Still there?")), "Yes.", after=first)

    assert second.match == "branched"
    assert tree(first.conversation_id)[2] == (3, 1, "user", "client_rewrite", ["Still there?"])


def test_further_choices_of_an_answer_are_kept_with_it(record):
    choices = [
        {"index": index, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
        for index, words in enumerate(["one", "two"])
    ]
    received = json.dumps({"id": "chatcmpl-1", "model": "gpt-4.1", "choices": choices}).encode()
    sent = b'{"model":"gpt-4.1","n":2,"messages":[{"role":"user","content":"Hi"}]}'

    exchange = record(sent, received, dialect=Dialect.OPENAI_CHAT)

    attempt = Generation.objects.select_related("raw_response").get()
    assert tree(exchange.conversation_id)[1][4] == ["one"]
    assert open_raw_body(attempt.raw_response) == received
    assert attempt.notes == ["1 more choices were answered; they are in the answer as received"]


def test_no_answer_at_all_is_an_attempt_without_cost(record):
    exchange = record(body(user("Hi")), None, http_status=None)

    attempt = Generation.objects.get()
    assert (exchange.status, exchange.answer_seq) == ("interrupted", None)
    assert (attempt.cost_usd, attempt.cost_confidence) == (None, "unknown")
