"""Streams that broke off, failed, or hold what no reader knows."""

import json

import pytest

from conversations.vocabulary import GenerationStatus, PartType
from conversations.wire.anthropic_messages import parse_response
from tests.conversations.wire.bodies import counted, said
from tests.conversations.wire.streams.anthropic_events import (
    STOP,
    TEXT,
    begin,
    delta,
    end,
    start,
    stop,
    text_of,
)
from tests.conversations.wire.streams.sdks import sse


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


def test_an_event_that_is_no_json_is_noted_and_passed_over():
    body = sse([begin(), *TEXT]) + b'data: {"type":"mess\n\n' + sse([end(), STOP])

    answer = parse_response(body, 200)

    assert (answer.status, text_of(answer)) == (GenerationStatus.COMPLETE, ["Hello"])
    assert answer.notes == ["an event could not be read: character 8: Unterminated string starting at"]


def test_a_stream_of_nothing_is_interrupted_without_a_message():
    answer = parse_response(b": hello\n\n", 200)

    assert (answer.status, answer.message) == (GenerationStatus.INTERRUPTED, None)
