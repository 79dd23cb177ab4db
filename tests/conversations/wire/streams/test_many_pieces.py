"""Streams of a great many pieces are read in time that grows with their length.

When every piece was compared with all those before it, they had not ended after 200 s.
"""

import json

import pytest

from conversations.redaction.cutting import cut_body
from conversations.vocabulary import SecretKind
from conversations.wire import anthropic_messages, openai_chat, openai_responses
from tests.conversations.wire.streams.anthropic_events import STOP, begin, end, start, stop
from tests.conversations.wire.streams.sdks import chunks, sse

MANY = 20_000


def arguments_of(answer):
    return [part.tool_call_id for part in answer.message.parts]


@pytest.mark.parametrize("place", [{"index": 0}, {}])
def test_calls_at_one_index_or_at_none(place):
    pieces = [{**place, "id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(MANY)]
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]} for piece in pieces]

    answer = openai_chat.parse_response(
        chunks([*deltas, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]), 200
    )

    assert arguments_of(answer) == [f"c{n}" for n in range(MANY)]


def test_blocks_at_one_index():
    events = [begin()]
    for n in range(MANY):
        events += [start(0, type="tool_use", id=f"t{n}", name="f", input={}), stop(0)]

    answer = anthropic_messages.parse_response(sse([*events, end("tool_use"), STOP]), 200)

    assert arguments_of(answer) == [f"t{n}" for n in range(MANY)]


def test_pieces_of_items_that_are_named_and_not_numbered():
    named = [{"id": f"i{n}", "type": "function_call", "call_id": f"c{n}", "name": "f"} for n in range(MANY)]
    events = [{"type": "response.output_item.added", "item": item} for item in named]
    events += [
        {"type": "response.function_call_arguments.delta", "item_id": item["id"], "delta": "{}"}
        for item in named
    ]
    events += [{"type": "response.output_item.done", "item": item | {"arguments": "{}"}} for item in named]

    answer = openai_responses.parse_response(sse(events), 200)

    assert arguments_of(answer) == [f"c{n}" for n in range(MANY)]


def test_secrets_in_objects_within_objects():
    deep = '{"index":0,"a":"x 4242 4242 4242 4242","b":' * MANY + "1" + "}" * MANY

    cut = cut_body(f"data: {deep}\n\n".encode(), kinds=frozenset(SecretKind)).body.decode()

    assert json.dumps("x [cut: card number]") in cut
    assert "4242" not in cut
