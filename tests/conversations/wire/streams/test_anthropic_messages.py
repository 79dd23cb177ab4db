import json

import pytest

from conversations.vocabulary import Dialect, GenerationStatus, PartType
from conversations.wire.anthropic_messages import parse_response
from tests.conversations.wire.bodies import counted, said
from tests.conversations.wire.streams.sdks import anthropic_blocks, rendered_blocks, sse

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES


def start(index=0, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index=0, **what):
    return {"type": "content_block_delta", "index": index, "delta": what}


def stop(index=0):
    return {"type": "content_block_stop", "index": index}


def begin(message_id="msg_1", **usage):
    usage = {"input_tokens": 25, "output_tokens": 1} | usage
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-a",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return {"type": "message_start", "message": message}


def end(reason="end_turn", **usage):
    usage = {"output_tokens": 8} | usage
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


STOP = {"type": "message_stop"}
TEXT = [
    start(type="text", text=""),
    delta(type="text_delta", text="Hel"),
    delta(type="text_delta", text="lo"),
    stop(),
]


def text_of(answer):
    return [part.text for part in said(answer).parts]


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


def test_a_stream_that_breaks_off_keeps_its_text_and_knows_no_output_count():
    body = sse(
        [begin("msg_I1", input_tokens=60), {"type": "content_block_delta", "delta": {"text": "x" * 420}}]
    )

    answer = parse_response(body, 200)

    assert answer.status == GenerationStatus.INTERRUPTED
    assert text_of(answer) == ["x" * 420]
    assert (counted(answer).uncached_input, counted(answer).output) == (60, None)
    assert answer.provider_response_id == "msg_I1"
    assert "the final usage never arrived" in answer.notes


def test_an_error_event_after_200_is_a_failure_that_keeps_the_text():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    answer = parse_response(sse([begin(), *TEXT[:2], error]), 200)

    assert answer.status == GenerationStatus.FAILED
    assert (answer.error_code, answer.error_message) == ("overloaded_error", "Overloaded")
    assert text_of(answer) == ["Hel"]


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


@pytest.mark.parametrize(
    "events",
    [
        [delta(type="input_json_delta", partial_json='{"file": "a", "li')],
        [delta(type="input_json_delta", partial_json='{"file": "a", "li'), stop(), end("max_tokens"), STOP],
        [delta(type="input_json_delta", partial_json='{"file": "a"}')],
        [stop(), end("max_tokens"), STOP],
        [],
    ],
)
def test_a_call_that_was_cut_is_never_a_call(events):
    body = sse([begin(), start(type="tool_use", id="toolu_9", name="make_file", input={}), *events])

    answer = parse_response(body, 200)

    (part,) = said(answer).parts
    assert (part.type, part.provider_type, part.orphan) == (PartType.OTHER, "tool_use", True)
    assert part.tool_call_id == "toolu_9"
    assert "the call of make_file was cut off" in answer.notes
    assert answer.status in (GenerationStatus.INTERRUPTED, GenerationStatus.TRUNCATED)


def test_the_piece_of_a_cut_calls_arguments_is_kept():
    piece = '{"file": "a", "li'
    body = sse(
        [
            begin(),
            start(type="tool_use", id="t", name="f", input={}),
            delta(type="input_json_delta", partial_json=piece),
        ]
    )

    (part,) = said(parse_response(body, 200)).parts

    assert json.loads(part.payload or b"")["input"] == piece


def test_a_stream_that_begins_again_is_the_second_one_with_a_note():
    body = sse([begin("msg_a"), *TEXT[:2], begin("msg_b"), *TEXT, end(), STOP])

    answer = parse_response(body, 200)

    assert (answer.provider_response_id, text_of(answer)) == ("msg_b", ["Hello"])
    assert answer.notes == ["the stream began again: 1 blocks of msg_a were dropped"]


def test_a_repeated_beginning_changes_nothing():
    answer = parse_response(sse([begin(), begin(), *TEXT, end(), STOP]), 200)

    assert (text_of(answer), answer.notes) == (["Hello"], [])


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


def test_an_event_that_is_no_json_is_noted_and_passed_over():
    body = sse([begin(), *TEXT]) + b'data: {"type":"mess\n\n' + sse([end(), STOP])

    answer = parse_response(body, 200)

    assert (answer.status, text_of(answer)) == (GenerationStatus.COMPLETE, ["Hello"])
    assert answer.notes == ["an event could not be read: character 8: Unterminated string starting at"]


def test_a_stream_of_nothing_is_interrupted_without_a_message():
    answer = parse_response(b": hello\n\n", 200)

    assert (answer.status, answer.message) == (GenerationStatus.INTERRUPTED, None)


def test_a_beginning_with_its_members_in_the_event_itself_counts_the_same():
    usage = {"input_tokens": 40, "cache_read_input_tokens": 0, "output_tokens": 1}
    events = [
        {"type": "message_start", "usage": usage},
        {"type": "message_delta", "usage": {"output_tokens": 18}},
        {
            "type": "message_delta",
            "usage": {"input_tokens": 900, "cache_read_input_tokens": 7, "output_tokens": 20},
        },
        STOP,
    ]

    once, twice = parse_response(sse(events), 200), parse_response(sse([*events, *events]), 200)

    assert (once.usage.uncached_input, once.usage.cache_read, once.usage.output) == (900, 7, 20)
    assert (twice.usage, twice.notes) == (once.usage, once.notes)


def test_a_stream_whose_beginning_was_lost_keeps_its_words_its_end_and_its_usage():
    answer = parse_response(sse([*TEXT, end(input_tokens=25), STOP]), 200)

    assert (answer.status, text_of(answer)) == (GenerationStatus.COMPLETE, ["Hello"])
    assert (answer.usage.uncached_input, answer.usage.output) == (25, 8)
    assert answer.notes == ["the stream has no beginning"]


def test_blocks_that_a_gateway_sends_at_one_index_are_all_kept():
    call = [
        start(type="tool_use", id="toolu_1", name="refund", input={}),
        delta(type="input_json_delta", partial_json='{"order": 1042}'),
        stop(),
    ]

    answer = parse_response(sse([begin(), *TEXT, *call, end("tool_use"), STOP]), 200)

    assert [(part.type, part.text or part.tool_call_id) for part in said(answer).parts] == [
        (PartType.TEXT, "Hello"),
        (PartType.TOOL_USE, "toolu_1"),
    ]
    assert answer.notes == ["several blocks came at index 0; all are kept"]


def test_blocks_that_come_again_after_a_repeated_beginning_are_the_same_blocks():
    answer = parse_response(sse([begin(), *TEXT, begin(), *TEXT, end(), STOP]), 200)

    assert (text_of(answer), answer.notes) == (["Hello"], [])
