"""A stream of Anthropic's API becomes the answer that the provider's own SDK makes of it."""

import pytest

from conversations.vocabulary import Dialect, GenerationStatus
from conversations.wire.anthropic_messages import parse_response
from tests.conversations.wire.bodies import counted, said
from tests.conversations.wire.streams.anthropic_events import STOP, TEXT, begin, delta, end, start, stop
from tests.conversations.wire.streams.sdks import anthropic_blocks, rendered_blocks, sse

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES
WHOLE = {
    "text": [begin(), *TEXT, end(), STOP],
    "ping and unknown events": [begin(), {"type": "ping"}, *TEXT, {"type": "novel", "x": 1}, end(), STOP],
    "thinking, then a call": [
        begin(),
        start(type="thinking", thinking="", signature=""),
        delta(type="thinking_delta", thinking="Which order"),
        delta(type="thinking_delta", thinking="?"),
        delta(type="signature_delta", signature="c2ln"),
        stop(),
        start(1, type="redacted_thinking", data="b3BhcXVl"),
        stop(1),
        start(2, type="tool_use", id="toolu_1", name="find", input={}),
        delta(2, type="input_json_delta", partial_json=""),
        delta(2, type="input_json_delta", partial_json='{"order": '),
        delta(2, type="input_json_delta", partial_json='1042, "note": "caf\\u00e9"}'),
        stop(2),
        start(3, type="tool_use", id="toolu_2", name="now", input={}),
        delta(3, type="input_json_delta", partial_json=""),
        stop(3),
        end("tool_use"),
        STOP,
    ],
    "citations": [
        begin(),
        start(type="text", text="", citations=[]),
        delta(type="text_delta", text="As written"),
        delta(
            type="citations_delta",
            citation={
                "type": "char_location",
                "cited_text": "x",
                "document_index": 0,
                "document_title": None,
                "start_char_index": 0,
                "end_char_index": 1,
                "file_id": None,
            },
        ),
        stop(),
        end(),
        STOP,
    ],
    "a server's tool": [
        begin(),
        start(type="server_tool_use", id="srvtoolu_1", name="web_search", input={}),
        delta(type="input_json_delta", partial_json='{"query":"x"}'),
        stop(),
        start(1, type="web_search_tool_result", tool_use_id="srvtoolu_1", content=[]),
        stop(1),
        start(2, type="text", text=""),
        delta(2, type="text_delta", text="Found."),
        stop(2),
        end(),
        STOP,
    ],
}


@pytest.mark.parametrize("events", WHOLE.values(), ids=WHOLE.keys())
def test_a_whole_stream_is_what_the_providers_sdk_accumulates(events):
    body = sse(events)

    answer = parse_response(body, 200)

    (message,) = rendered_blocks(said(answer), ANTHROPIC)
    assert message.get("content", []) == anthropic_blocks(body)
    assert answer.status == GenerationStatus.COMPLETE
    assert answer.notes == []
    assert (answer.provider_response_id, answer.served_model) == ("msg_1", "claude-a")


def test_a_calls_arguments_stay_as_the_model_wrote_them():
    body = sse(
        [
            begin(),
            start(type="tool_use", id="t", name="pay", input={}),
            delta(type="input_json_delta", partial_json='{"amount": 0.10, '),
            delta(type="input_json_delta", partial_json='"n": 1e2}'),
            stop(),
            end("tool_use"),
            STOP,
        ]
    )

    (call,) = said(parse_response(body, 200)).parts

    assert (call.payload or b"").endswith(b'"input":{"amount": 0.10, "n": 1e2}}')


def test_usage_is_cumulative_and_a_second_delivery_changes_nothing():
    events = [
        begin(input_tokens=40, cache_read_input_tokens=0),
        {"type": "ping"},
        *TEXT,
        end(output_tokens=18),
        end(input_tokens=2140, cache_read_input_tokens=300, output_tokens=31),
        STOP,
    ]

    once, twice = parse_response(sse(events), 200), parse_response(sse(events * 2), 200)

    assert (counted(once).uncached_input, counted(once).cache_read, counted(once).output) == (2140, 300, 31)
    assert twice == once


def test_a_stop_reason_without_the_closing_event_is_complete_with_a_note():
    answer = parse_response(sse([begin(), *TEXT, end()]), 200)

    assert answer.status == GenerationStatus.COMPLETE
    assert answer.notes == ["the closing event is missing"]


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("max_tokens", GenerationStatus.TRUNCATED),
        ("model_context_window_exceeded", GenerationStatus.TRUNCATED),
        ("refusal", GenerationStatus.REFUSED),
        ("pause_turn", GenerationStatus.COMPLETE),
        ("some_new_reason", GenerationStatus.COMPLETE),
    ],
)
def test_the_stop_reason_says_how_it_ended(reason, status):
    answer = parse_response(sse([begin(), *TEXT, end(reason), STOP]), 200)

    assert (answer.status, answer.stop_reason) == (status, reason)


def test_a_fallback_block_names_the_model_that_served():
    fallback = {"from": {"model": "claude-a"}, "to": {"model": "claude-b"}, "trigger": {"type": "refusal"}}
    body = sse(
        [
            begin(),
            start(type="fallback", **fallback),
            stop(),
            start(1, type="text", text="ok"),
            stop(1),
            end(),
            STOP,
        ]
    )

    answer = parse_response(body, 200)

    assert answer.served_model == "claude-b"
    assert [part.provider_type for part in said(answer).parts] == ["fallback", ""]
