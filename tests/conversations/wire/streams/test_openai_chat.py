import json

import pytest

from conversations.vocabulary import Dialect, GenerationStatus, PartType
from conversations.wire.openai_chat import parse_response
from tests.conversations.wire.bodies import counted, said
from tests.conversations.wire.streams.sdks import chat_message, chunks, rendered_blocks

CHAT = Dialect.OPENAI_CHAT
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def chunk(delta=None, *, finish=None, index=0, **more):
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-a"}
    choice = {"index": index, "delta": delta or {}, "finish_reason": finish, "logprobs": None}
    return {**head, "choices": [choice], "obfuscation": "x9", **more}


def usage_chunk(usage=USAGE):
    return chunk(choices=[], usage=usage)


def call(index, **function):
    more = {key: function.pop(key) for key in ("id", "type") if key in function}
    return {"tool_calls": [{"index": index, **more, "function": function}]}


WHOLE = {
    "text": [
        chunk({"role": "assistant", "content": "", "refusal": None}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk(finish="stop"),
        usage_chunk(),
    ],
    "two calls": [
        chunk({"role": "assistant", "content": None}),
        chunk(call(0, id="call_a", type="function", name="find", arguments="")),
        chunk(call(0, arguments='{"order":')),
        chunk(call(0, arguments=" 1042}")),
        chunk(call(1, id="call_b", type="function", name="now", arguments="{}")),
        chunk(finish="tool_calls"),
    ],
    "text beside a call": [
        chunk({"role": "assistant", "content": "Let me see."}),
        chunk(call(0, id="call_a", type="function", name="find", arguments="{}")),
        chunk(finish="tool_calls"),
    ],
}


@pytest.mark.parametrize("events", WHOLE.values(), ids=WHOLE.keys())
def test_a_whole_stream_is_what_the_providers_sdk_accumulates(events):
    body = chunks(events)

    answer = parse_response(body, 200)

    assert rendered_blocks(said(answer), CHAT) == [chat_message(body)]
    assert (answer.status, answer.notes) == (GenerationStatus.COMPLETE, [])
    assert (answer.provider_response_id, answer.served_model) == ("chatcmpl-1", "gpt-a")


def test_usage_comes_in_its_own_chunk_and_includes_what_was_cached():
    usage = counted(parse_response(chunks(WHOLE["text"]), 200))

    assert (usage.uncached_input, usage.cache_read, usage.output, usage.reasoning) == (40, 60, 20, 5)


def test_a_stream_that_breaks_off_keeps_its_text_and_has_no_usage():
    answer = parse_response(chunks(WHOLE["text"][:2], done=False), 200)

    assert answer.status == GenerationStatus.INTERRUPTED
    assert said(answer).parts[0].text == "Hel"
    assert answer.usage is None


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([*WHOLE["two calls"][:3]], GenerationStatus.INTERRUPTED),
        ([*WHOLE["two calls"][:3], chunk(finish="length")], GenerationStatus.TRUNCATED),
        ([*WHOLE["two calls"][:2]], GenerationStatus.INTERRUPTED),
    ],
)
def test_a_call_that_was_cut_is_never_a_call(events, status):
    answer = parse_response(chunks(events, done=False), 200)

    (part,) = said(answer).parts
    assert (part.type, part.orphan, part.tool_call_id) == (PartType.OTHER, True, "call_a")
    assert answer.status == status
    assert "the call of find was cut off" in answer.notes


def test_arguments_that_are_no_json_are_the_models_own_in_a_whole_answer():
    events = [
        chunk(call(0, id="c", type="function", name="f", arguments="{oops")),
        chunk(finish="tool_calls"),
    ]

    (part,) = said(parse_response(chunks(events), 200)).parts

    assert (part.type, part.orphan) == (PartType.TOOL_USE, False)


def test_an_error_in_the_stream_is_a_failure_that_keeps_the_text():
    error = {"error": {"message": "The server had an error", "type": "server_error", "code": None}}

    answer = parse_response(chunks([*WHOLE["text"][:2], error], done=False), 200)

    assert (answer.status, answer.error_code) == (GenerationStatus.FAILED, "server_error")
    assert answer.error_message == "The server had an error"
    assert said(answer).parts[0].text == "Hel"


def test_a_refusal_is_text_and_the_answer_refused():
    events = [
        chunk({"role": "assistant", "refusal": "I can"}),
        chunk({"refusal": "not."}),
        chunk(finish="stop"),
    ]

    answer = parse_response(chunks(events), 200)

    (part,) = said(answer).parts
    assert (part.type, part.provider_type, part.text) == (PartType.TEXT, "refusal", "I cannot.")
    assert answer.status == GenerationStatus.REFUSED


def test_several_choices_are_one_message_and_its_alternatives():
    events = [
        chunk({"role": "assistant", "content": "one"}),
        chunk({"role": "assistant", "content": "two"}, index=1),
        chunk(finish="stop"),
        chunk(finish="stop", index=1),
    ]

    answer = parse_response(chunks(events), 200)

    assert said(answer).parts[0].text == "one"
    assert [message.parts[0].text for message in answer.alternatives] == ["two"]


def test_ids_and_names_that_a_gateway_repeats_are_taken_once():
    piece = {"id": "0", "type": "function"}
    events = [
        chunk({"role": "assistant", **call(0, **piece, name="now", arguments="")}),
        chunk({"role": "assistant", **call(0, **piece, name="now", arguments="{}")}),
        chunk(finish="tool_calls"),
    ]

    (part,) = said(parse_response(chunks(events), 200)).parts

    assert part.payload == b'{"id":"0","type":"function","function":{"name":"now","arguments":"{}"}}'


@pytest.mark.parametrize("later", [{"id": ""}, {"id": None, "type": None}], ids=["empty", "null"])
def test_an_id_that_a_gateway_sends_again_without_its_value_stays(later):
    events = [
        chunk(call(0, id="call_a", type="function", name="now", arguments='{"zone":')),
        chunk(call(0, **later, name="", arguments='"UTC"}')),
        chunk(finish="tool_calls"),
    ]

    (part,) = said(parse_response(chunks(events), 200)).parts

    assert (part.tool_call_id, part.is_minted_id, part.tool_name) == ("call_a", False, "now")
    assert (
        part.payload
        == b'{"id":"call_a","type":"function","function":{"name":"now","arguments":"{\\"zone\\":\\"UTC\\"}"}}'
    )


@pytest.mark.parametrize("indexes", [(0, 0), (None, None)], ids=["one index", "no index"])
def test_calls_of_several_ids_at_one_index_are_several_calls(indexes):
    first, second = indexes
    events = [
        chunk(call(first, id="call_a", type="function", name="refund", arguments='{"order":')),
        chunk(call(first, arguments="1}")),
        chunk(call(second, id="call_b", type="function", name="charge", arguments='{"order":')),
        chunk(call(second, arguments="2}")),
        chunk(finish="tool_calls"),
    ]

    parts = said(parse_response(chunks(events), 200)).parts

    assert [(part.tool_call_id, part.tool_name) for part in parts] == [
        ("call_a", "refund"),
        ("call_b", "charge"),
    ]
    assert [json.loads(json.loads(part.payload)["function"]["arguments"]) for part in parts] == [
        {"order": 1},
        {"order": 2},
    ]


def test_pieces_of_calls_at_one_index_find_their_call_by_id():
    events = [
        chunk(call(0, id="call_a", type="function", name="refund", arguments='{"a"')),
        chunk(call(0, id="call_b", type="function", name="charge", arguments='{"b"')),
        chunk(call(0, id="call_a", arguments=":1}")),
        chunk(call(0, id="call_b", arguments=":2}")),
        chunk(finish="tool_calls"),
    ]

    parts = said(parse_response(chunks(events), 200)).parts

    assert [json.loads(part.payload)["function"]["arguments"] for part in parts] == ['{"a":1}', '{"b":2}']


def test_reasoning_that_a_gateway_streams_is_thinking():
    events = [
        chunk({"role": "assistant", "reasoning_content": "Let me "}),
        chunk({"reasoning_content": "think"}),
        chunk({"content": "42"}),
        chunk(finish="stop"),
    ]

    answer = parse_response(chunks(events), 200)

    assert [(part.type, part.text) for part in said(answer).parts] == [
        (PartType.TEXT, "42"),
        (PartType.THINKING, "Let me think"),
    ]
