"""Streams as gateways send them: begun again, without a beginning, at one index."""

from conversations.vocabulary import GenerationStatus, PartType
from conversations.wire.anthropic_messages import parse_response
from tests.conversations.wire.bodies import said
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


def test_a_stream_that_begins_again_is_the_second_one_with_a_note():
    body = sse([begin("msg_a"), *TEXT[:2], begin("msg_b"), *TEXT, end(), STOP])

    answer = parse_response(body, 200)

    assert (answer.provider_response_id, text_of(answer)) == ("msg_b", ["Hello"])
    assert answer.notes == ["the stream began again: 1 blocks of msg_a were dropped"]


def test_a_repeated_beginning_changes_nothing():
    answer = parse_response(sse([begin(), begin(), *TEXT, end(), STOP]), 200)

    assert (text_of(answer), answer.notes) == (["Hello"], [])


def test_a_beginning_with_its_members_in_the_event_itself_counts_the_same():
    usage = {"input_tokens": 40, "cache_read_input_tokens": 0, "output_tokens": 1}
    events: list[dict] = [
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
