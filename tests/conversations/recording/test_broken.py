import json
from datetime import timedelta

import pytest

from conversations.models import Conversation, Generation, Message, MessagePart, RawBody, ToolCall
from conversations.replay import request_body_of
from conversations.services.raw_bodies import open_raw_body
from conversations.vocabulary import Dialect
from tests.conversations.conftest import NOW
from tests.conversations.recording.exchanges import (
    answer,
    assistant,
    body,
    call,
    refusal,
    result,
    stream,
    text,
    tree,
    user,
)


def test_a_result_without_its_call_is_kept_and_marked(record):
    sent = body(user(result("toolu_T1")), assistant("Done."), user("Thanks"))

    exchange = record(sent)

    orphan = MessagePart.objects.get(type="tool_result")
    conversation = Conversation.objects.get(id=exchange.conversation_id)
    assert (orphan.seq, orphan.orphan, orphan.answers_seq) == (1, True, None)
    assert conversation.replay_obstacle == "received_broken"
    assert [violation.rule for violation in exchange.violations] == ["results-answer-previous"]
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_a_call_that_the_history_passes_over_is_marked_unanswered(record):
    sent = body(
        user("Refund it"),
        assistant(call("toolu_1"), call("toolu_2")),
        user(result("toolu_1")),
        assistant("Ok"),
    )

    exchange = record(sent)

    assert dict(ToolCall.objects.values_list("call_id", "status")) == {
        "toolu_1": "succeeded",
        "toolu_2": "unanswered",
    }
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_a_call_in_a_message_of_results_is_marked_unanswered_where_the_path_goes_on(record):
    """It belongs to the calls that its message answers, so nothing below can answer it."""
    sent = body(user("Refund it"), assistant(call("toolu_1")), user(result("toolu_1"), call("toolu_2")))

    exchange = record(sent, "Done.")

    assert exchange.match == "started"
    assert dict(ToolCall.objects.values_list("call_id", "status")) == {
        "toolu_1": "succeeded",
        "toolu_2": "unanswered",
    }
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_a_stored_call_that_the_next_request_passes_over_is_marked_unanswered(record):
    first = record(body(user("Refund it")), answer(call("toolu_1"), stop_reason="tool_use"))

    second = record(
        body(user("Refund it"), assistant(call("toolu_1")), user("Never mind")), "Fine.", after=first
    )

    assert second.new_seqs == (3, 4)
    assert ToolCall.objects.get().status == "unanswered"
    assert Conversation.objects.get().replay_obstacle == "received_broken"


def test_calls_end_as_their_results_say(record):
    called = answer(call("toolu_1"), call("toolu_2"), stop_reason="tool_use")
    first = record(body(user("Go")), called)
    results = user(result("toolu_1"), result("toolu_2", "no such order", is_error=True))

    record(body(user("Go"), assistant(call("toolu_1"), call("toolu_2")), results), after=first)

    assert dict(ToolCall.objects.values_list("call_id", "status")) == {
        "toolu_1": "succeeded",
        "toolu_2": "failed",
    }
    assert set(ToolCall.objects.values_list("generation_number", flat=True)) == {1}


def test_results_split_over_messages_stay_as_they_came(record):
    calls = [call("toolu_P1"), call("toolu_P2"), call("toolu_P3")]
    first = record(body(user("All")), answer(*calls, stop_reason="tool_use"))
    split = [user(result("toolu_P1")), user(result("toolu_P2"), result("toolu_P3"))]
    sent = body(user("All"), assistant(*calls), *split)

    exchange = record(sent, after=first)

    assert [row[2] for row in tree(first.conversation_id)] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
    ]
    assert set(ToolCall.objects.values_list("status", flat=True)) == {"succeeded"}
    assert request_body_of(conversation_id=exchange.conversation_id, number=2) == sent
    assert "results-in-one-message" in {violation.rule for violation in exchange.violations}


def test_a_repeated_call_id_in_one_message_is_kept_twice_and_counts_once(record):
    twice = assistant(call("charge_card:1", "charge_card", order=77), call("charge_card:1", "unknown"))
    sent = body(user("Pay"), twice, user(result("charge_card:1")))

    exchange = record(sent)

    parts = MessagePart.objects.filter(type="tool_use").order_by("ordinal")
    assert [(part.tool_name, part.orphan) for part in parts] == [("charge_card", False), ("unknown", True)]
    assert ToolCall.objects.get().status == "succeeded"
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_block_order_is_kept_and_the_misplaced_text_is_named(record):
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    sent = body(
        user("Check"),
        assistant(thinking, text("Checking"), call("toolu_Q1")),
        user(text("note from app"), result("toolu_Q1")),
    )

    exchange = record(sent)

    assert [part.type for part in MessagePart.objects.filter(seq__in=[2, 3]).order_by("seq", "ordinal")] == [
        "thinking",
        "text",
        "tool_use",
        "text",
        "tool_result",
    ]
    assert [(v.rule, v.place) for v in exchange.violations] == [
        ("results-come-first", "messages.2.content.0")
    ]
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_a_body_that_is_no_conversation_is_kept_whole_below_nothing(record):
    sent = b'{"model": "claude-sonnet-4-6", "messages": "\xff'

    exchange = record(sent, refusal(), http_status=400)

    attempt = Generation.objects.get()
    raw = RawBody.objects.get(id=attempt.raw_request_id)
    assert (exchange.match, exchange.proof, exchange.leaf_seq) == ("unplaced", "verbatim", None)
    assert (attempt.status, attempt.error_code) == ("failed", "invalid_request_error")
    assert "not valid UTF-8" in attempt.notes[0]
    assert (raw.raw_class, raw.account_id) == ("request", attempt.conversation.account_id)
    assert Message.objects.count() == 0
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_a_refused_request_stands_as_what_was_asked_and_was_not_answered(record):
    first = record(body(user("Hi")), "Hello.")
    sent = body(user("Hi"), assistant("Hello."), user(""))

    second = record(sent, refusal(), after=first, http_status=400)

    assert (second.status, second.answer_seq, second.leaf_seq) == ("failed", None, 3)
    assert second.violations[0].rule == "text-not-blank"
    assert request_body_of(conversation_id=first.conversation_id, number=2) == sent


def test_a_patch_over_a_fifth_gives_way_to_the_bytes(record):
    noise = " ".join(str(n * n % 9973) for n in range(400))
    first = record(body(user("Hi")), "Hello.")
    sent = body(
        user("Hi"),
        assistant({"type": "thinking", "thinking": noise, "signature": "x"}, text("Hello.")),
        user("So?"),
    )

    second = record(sent, after=first)

    assert (second.proof, second.match) == ("verbatim", "continued")
    assert Generation.objects.get(number=2).body_patch is None
    assert request_body_of(conversation_id=first.conversation_id, number=2) == sent


@pytest.mark.parametrize(
    "raw_text",
    [
        rb'"before\u0000after"',
        rb'"half \ud83d end"',
        rb'"pair \ud83c\udf78 ok"',
        rb'"literal \\u0000 in docs"',
        '"caf\u00e9 e\u0301 \u202e"'.encode(),
        rb'"\/ \u0041 \u00e9"',
    ],
)
def test_characters_that_postgresql_cannot_hold_come_back_as_they_were(record, raw_text):
    block = b'{"type":"text","text":' + raw_text + b"}"
    tool = b'{"type":"tool_use","id":"t1","name":"q","input":{' + raw_text + b":" + raw_text + b"}}"
    sent = (
        b'{"model":"m","messages":[{"role":"user","content":['
        + block
        + b']},{"role":"assistant","content":['
        + tool
        + b']},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":'
        + raw_text
        + b"}]}]}"
    )

    exchange = record(sent, answer("x"))

    assert exchange.proof == "exact"
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_odd_spacing_key_order_and_repeated_keys_come_back(record):
    sent = (
        b'{"model":"m-1",  "messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_K1",'
        b'"name":"q","input":{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}}]}],'
        b'"cache_control":{"type":"ephemeral","ttl":"5m"}}'
    )

    exchange = record(sent)

    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_sealed_and_empty_thinking_comes_back_byte_for_byte(record):
    parts = [
        {"type": "thinking", "thinking": "step one", "signature": "c2lnLUE="},
        {"type": "redacted_thinking", "data": "b3BhcXVlLUI="},
        {"type": "thinking", "thinking": "", "signature": "c2lnLUM="},
        call("toolu_S1", "q"),
    ]
    sent = body(user("Go"), assistant(*parts), user(result("toolu_S1")))

    exchange = record(sent)

    assert [p.type for p in MessagePart.objects.filter(seq=2).order_by("ordinal")] == ["thinking"] * 3 + [
        "tool_use"
    ]
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_empty_and_blank_content_stays_what_it_was(record):
    sent = body(
        user("Go"),
        assistant(text(""), call("toolu_E1", "q")),
        user(result("toolu_E1", ""), text("", cache_control={"type": "ephemeral"})),
        assistant(text(" \n\t ")),
        user("?"),
        {"role": "assistant", "content": []},
        user("!"),
    )

    exchange = record(sent)

    texts = list(
        MessagePart.objects.filter(type="text", seq__lte=4)
        .order_by("seq", "ordinal")
        .values_list("text", flat=True)
    )
    assert texts == ["Go", "", "", " \n\t "]
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent
    assert {v.rule for v in exchange.violations} >= {"text-not-blank"}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "x" * 300, "value": 1},
        {"type": "tool_use", "id": "i" * 400, "name": "n" * 400, "input": {}},
        {"type": "image", "source": {"type": "base64", "media_type": "m" * 300, "data": "aGk="}},
        {"type": ["no", "string"]},
        {"no": "type"},
        {"type": "tool_result"},
        {"type": "tool_use", "id": 7, "name": None, "input": "no object"},
    ],
)
def test_hostile_blocks_are_kept_in_columns_that_cannot_hold_them(record, block):
    sent = body(user(block), assistant(block), user("?"), {"role": "r" * 200, "content": "x"}, user("!"))

    exchange = record(sent, answer("x"))

    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


@pytest.mark.parametrize(
    "sent", [b"", b"null", b"[]", b'"x"', b"{}", b'{"messages":[]}', b'{"messages":[1,null,"x"]}']
)
def test_whatever_is_sent_is_kept(record, sent):
    exchange = record(sent, refusal(), http_status=400)

    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_error_texts_with_nul_are_kept_readable(record):
    record(body(user("Hi")), refusal("bad \x00 byte"), http_status=400)

    assert Generation.objects.get().error_message == "bad \ufffd byte"


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


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 2**40, "output_tokens": 5},
        {"input_tokens": 2**64 - 1, "output_tokens": 5},
        {"input_tokens": 5, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 9}},
    ],
)
def test_usage_that_cannot_be_is_kept_as_sent_and_costs_the_answer_nothing(record, usage):
    exchange = record(body(user("Hi")), answer("Hello.", usage=usage))

    attempt = Generation.objects.get()
    assert (exchange.match, exchange.answer_seq) == ("started", 2)
    assert (attempt.output_tokens, attempt.reasoning_tokens, attempt.usage) == (5, None, usage)


@pytest.mark.parametrize("count", [2**64, -(2**63) - 1, 10**30])
def test_a_count_past_every_machines_integers_is_kept_by_its_digits(record, count):
    exchange = record(body(user("Hi")), answer("Hello.", usage={"input_tokens": 7, "output_tokens": count}))

    attempt = Generation.objects.get()
    assert (exchange.match, exchange.answer_seq) == ("started", 2)
    assert (attempt.uncached_input_tokens, attempt.output_tokens) == (7, None)
    assert attempt.usage == {"input_tokens": 7, "output_tokens": str(count)}


def test_arguments_that_are_no_json_number_are_kept_as_they_came(record):
    exchange = record(
        body(user("Hi")), answer(call("toolu_1", rate=float("nan"), id="ch_1"), stop_reason="tool_use")
    )

    stored = ToolCall.objects.get()
    assert (exchange.match, stored.arguments) == ("started", {"id": "ch_1"})
    assert b'"rate":NaN' in bytes(MessagePart.objects.get(type="tool_use").payload)


@pytest.mark.parametrize("previous", [r"\ud83d", r"\u0000", "r" * 5000])
def test_an_id_of_the_provider_that_no_column_holds_is_still_looked_up(record, previous):
    sent = f'{{"model":"gpt-4o","input":"Hi","previous_response_id":"{previous}"}}'.encode()

    exchange = record(sent, None, dialect=Dialect.OPENAI_RESPONSES)

    assert exchange.match == "started"
    assert request_body_of(conversation_id=exchange.conversation_id, number=1) == sent


def test_a_status_and_times_that_cannot_be_are_left_unknown(record):
    record(
        body(user("Hi")),
        http_status=99999,
        started_at=NOW - timedelta(days=400),
        finished_at=NOW,
    )

    attempt = Generation.objects.get()
    assert (attempt.match, attempt.http_status, attempt.total_ms) == ("started", None, None)
