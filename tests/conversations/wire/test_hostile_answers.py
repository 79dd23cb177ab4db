"""Whatever a provider or a gateway sends, reading it never fails and says how it ended."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.vocabulary import Dialect, GenerationStatus, PartType
from conversations.wire.dialects import module_for
from conversations.wire.render import render_messages
from conversations.wire.shapes import COMPACT

NAMES = st.sampled_from(
    [
        "type", "id", "role", "content", "text", "message", "delta", "index", "content_block",
        "usage", "item", "output_index", "content_index", "summary_index", "part", "response",
        "output", "status", "error", "name", "choices", "finish_reason", "tool_calls", "function",
        "arguments", "stop_reason", "partial_json", "call_id", "incomplete_details", "reason",
        "model", "output_tokens", "citation", "to", "code", "summary", "refusal",
    ]
)  # fmt: skip
WORDS = st.sampled_from(
    [
        "message_start", "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop", "error", "text", "tool_use", "thinking", "text_delta",
        "input_json_delta", "citations_delta", "signature_delta", "fallback", "message",
        "function_call", "reasoning", "output_text", "response.created", "response.completed",
        "response.failed", "response.incomplete", "response.output_item.added", "response.output_item.done",
        "response.output_text.delta", "response.content_part.added",
        "response.function_call_arguments.delta", "response.reasoning_summary_text.delta",
        "response.output_text.annotation.added", "completed", "incomplete", "in_progress", "stop",
        "length", "tool_calls", "end_turn", "max_tokens", "assistant", "custom", "",
    ]
)  # fmt: skip
SCALARS = st.one_of(WORDS, st.text(max_size=4), st.none(), st.booleans(), st.integers(-1, 3), st.just(0.5))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=15,
)
EVENTS = st.dictionaries(NAMES, VALUES, max_size=5).flatmap(
    lambda event: WORDS.map(lambda kind: {**event, "type": kind})
)


def check(dialect, body, http_status=200):
    answer = module_for(dialect).parse_response(body, http_status)
    if answer.message is not None:
        for part in answer.message.parts:
            assert part.text is not None or part.payload is not None
            assert part.type != PartType.TOOL_USE or (part.tool_call_id and part.tool_name is not None)
        rendered = render_messages([answer.message], dialect=dialect, style=COMPACT)
        json.loads(b"[" + rendered + b"]")
    return answer


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(st.lists(EVENTS, max_size=8), st.booleans())
def test_any_events_amount_to_some_answer(dialect, events, is_closed):
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]

    answer = check(dialect, "".join([": begin\n", *lines, "data: [DONE]\n\n" if is_closed else ""]).encode())

    assert answer.status is not None


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=80), VALUES.map(lambda value: json.dumps(value).encode())), st.data())
def test_any_answer_is_read(dialect, body, data):
    status = data.draw(st.sampled_from([None, 200, 400, 500]))

    answer = check(dialect, body, status)

    assert answer.status is not None


LISTS = {
    Dialect.ANTHROPIC_MESSAGES: "content",
    Dialect.OPENAI_CHAT: "choices",
    Dialect.OPENAI_RESPONSES: "output",
}


@pytest.mark.parametrize("dialect", Dialect)
@settings(max_examples=100, deadline=None)
@given(st.lists(VALUES, max_size=4), st.dictionaries(NAMES, VALUES, max_size=4))
def test_any_answer_of_the_right_outline_is_read(dialect, listed, members):
    if dialect == Dialect.OPENAI_CHAT:
        listed = [
            {"message": {"role": "assistant", "tool_calls": [value], "content": value}} for value in listed
        ]

    check(dialect, json.dumps({**members, "error": None, LISTS[dialect]: listed}).encode())


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("start", [b"", b'{"content":', b'data: {"type":'])
def test_a_deep_nest_of_brackets_is_no_answer(dialect, start):
    assert module_for(dialect).parse_response(start + b"[" * 100_000, 200).message is None


DEEP = "[" * 3000 + "]" * 3000
BEGIN = 'data: {"type":"message_start","message":{"id":"a","usage":{}}}\n\n'
CITATION = f'{{"type":"citations_delta","citation":{DEEP}}}'
CITED = f'data: {{"type":"content_block_delta","delta":{CITATION}}}\n\n'
TEXT = 'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}\n\n'
ITEM = f'data: {{"type":"response.output_item.added","output_index":0,"item":{{"type":"x","y":{DEEP}}}}}\n\n'


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (Dialect.ANTHROPIC_MESSAGES, BEGIN + TEXT + CITED),
        (Dialect.OPENAI_CHAT, f'data: {{"choices":[{{"delta":{{"content":"x","y":{DEEP}}}}}]}}\n\n'),
        (Dialect.OPENAI_RESPONSES, ITEM),
    ],
)
def test_an_event_nested_too_deep_to_be_written_again_is_noted_and_passed_over(dialect, body):
    answer = check(dialect, body.encode())

    assert "an event could not be read: nested too deeply to be read" in answer.notes


CHUNK = 'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"x"}}]}\n\n'
DELTA = 'data: {"type":"response.output_text.delta","delta":"x"}\n\n'


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        (Dialect.ANTHROPIC_MESSAGES, BEGIN + TEXT),
        (Dialect.OPENAI_CHAT, CHUNK),
        (Dialect.OPENAI_RESPONSES, DELTA),
    ],
)
def test_an_error_event_in_plain_words_is_a_failure_that_keeps_what_arrived(dialect, said):
    answer = check(dialect, f"{said}event: error\ndata: upstream overloaded\n\n".encode())

    assert (answer.status, answer.error_message) == (GenerationStatus.FAILED, "upstream overloaded")
    assert [part.text for part in answer.message.parts] == ["x"]
