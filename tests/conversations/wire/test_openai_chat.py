import json

import pytest

from conversations.drafts import HOLE_STRING
from conversations.vocabulary import Dialect, GenerationStatus, PartType, Role
from conversations.wire.openai_chat import parse_response
from conversations.wire.shells import FORM_STRING
from tests.conversations.wire.bodies import compact, counted, parsed_and_same, said, spaced

CHAT = Dialect.OPENAI_CHAT


def messages_of(*messages, write=compact):
    return parsed_and_same(CHAT, write({"model": "m", "messages": list(messages)})).messages


def call(call_id="call_1", name="find", arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_leading_system_and_developer_messages_are_the_preamble():
    system = {"role": "system", "content": "be kind"}
    developer = {"role": "developer", "content": [{"type": "text", "text": "be brief"}]}
    user = {"role": "user", "content": "hi"}

    parsed = parsed_and_same(CHAT, spaced({"messages": [system, developer, user, system], "tools": []}))

    assert parsed.leading == spaced(system) + b", " + spaced(developer)
    assert [message.role for message in parsed.messages] == [Role.USER, Role.SYSTEM]
    assert (parsed.preamble, parsed.tools) == (None, b"[]")


@pytest.mark.parametrize("write", [compact, spaced])
def test_calls_stand_beside_the_text_and_each_result_is_a_message(write):
    asking = {"role": "assistant", "content": "Let me see", "tool_calls": [call("call_P1"), call("call_P2")]}
    listed = messages_of(
        {"role": "user", "content": "hi"},
        asking,
        {"role": "tool", "tool_call_id": "call_P1", "content": "12.00"},
        {"role": "tool", "tool_call_id": "call_P2", "content": [{"type": "text", "text": "[]"}]},
        write=write,
    )

    assert [(m.role, m.shell) for m in listed] == [
        (Role.USER, FORM_STRING),
        (Role.ASSISTANT, None),
        (Role.TOOL, None),
        (Role.TOOL, None),
    ]
    assert [(p.type, p.text, p.tool_call_id) for m in listed[1:] for p in m.parts] == [
        (PartType.TEXT, "Let me see", None),
        (PartType.TOOL_USE, None, "call_P1"),
        (PartType.TOOL_USE, None, "call_P2"),
        (PartType.TOOL_RESULT, "12.00", "call_P1"),
        (PartType.TOOL_RESULT, "[]", "call_P2"),
    ]


def test_arguments_stay_the_string_that_the_model_wrote():
    arguments = '{"a": 1,  "a": 2, oops'

    (message,) = messages_of(
        {"role": "assistant", "content": None, "tool_calls": [call(arguments=arguments)]}
    )

    assert message.parts[0].payload == compact(call(arguments=arguments))


def test_other_layouts_keep_theirs_in_the_shell():
    (message,) = messages_of({"tool_calls": [call()], "content": "after", "role": "assistant", "audio": None})

    assert message.shell == (
        f'{{"tool_calls":[\x01],"content":{HOLE_STRING},"role":"assistant","audio":null}}'
    )
    assert [part.type for part in message.parts] == [PartType.TOOL_USE, PartType.TEXT]


def test_adjacent_assistant_messages_are_one_turn():
    listed = messages_of(
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "one moment"},
        {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
    )

    assert [len(message.parts) for message in listed] == [1, 3, 1]
    assert [message.wire_index for message in listed] == [0, 1, 3]


def test_a_custom_tools_call_is_a_call():
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}

    (message,) = messages_of({"role": "assistant", "tool_calls": [custom]})

    part = message.parts[0]
    assert (part.type, part.provider_type, part.tool_name, part.tool_call_id) == (
        PartType.TOOL_USE,
        "custom",
        "sql",
        "c",
    )


def test_a_function_call_of_old_is_paired_by_a_minted_id():
    listed = messages_of(
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "function_call": {"name": "now", "arguments": "{}"}},
        {"role": "function", "name": "now", "content": "12:00"},
        {"role": "function", "name": "unasked", "content": "?"},
    )

    call_part, result, stray = (message.parts[0] for message in listed[1:])
    assert (call_part.tool_call_id, call_part.is_minted_id) == ("minted-0", True)
    assert (result.type, result.tool_call_id, result.orphan) == (PartType.TOOL_RESULT, "minted-0", False)
    assert (stray.tool_call_id, stray.orphan) == (None, True)
    assert (listed[2].role, listed[2].provider_role) == (Role.TOOL, "function")


def test_what_a_user_sends_has_its_types():
    (message,) = messages_of(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,A"}},
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            ],
        }
    )

    assert [(part.type, part.media_type, part.provider_type) for part in message.parts] == [
        (PartType.TEXT, "", ""),
        (PartType.IMAGE, "image/png", "image_url"),
        (PartType.DOCUMENT, "application/pdf", "file"),
        (PartType.OTHER, "", "input_audio"),
    ]


def test_what_an_assistant_says_elsewhere_is_text_too():
    (message,) = messages_of(
        {
            "role": "assistant",
            "content": None,
            "refusal": "I cannot.",
            "reasoning_content": "Hm.",
            "audio": {"id": "audio_1", "data": "AAAA", "transcript": "spoken"},
        }
    )

    assert [(part.type, part.provider_type, part.text) for part in message.parts] == [
        (PartType.TEXT, "refusal", "I cannot."),
        (PartType.THINKING, "reasoning_content", "Hm."),
        (PartType.OTHER, "audio", "spoken"),
    ]


@pytest.mark.parametrize(
    "literal",
    [
        r'"a\/b"',  # PHP
        r'"\u003cb\u003e \u0026 é"',  # Go, Rails
        r'"\u00E9\uD83D\uDE00"',  # upper-case digits
        r'"caf\u00e9 \/ \ud83d\ude00"',
        r'"it\u0027s \u003d"',  # Gson
        r'"\u0022quoted\u0022 \u002B \u00E9 \u0060"',  # .NET
    ],
)
def test_the_habits_of_other_writers_are_kept_as_text(literal):
    body = (
        b'{"messages":[{"role":"user","content":'
        + literal.encode()
        + b'},{"role":"user","content":"\xc3\xa9"}]}'
    )

    message = parsed_and_same(CHAT, body).messages[0]

    assert (message.parts[0].payload, message.parts[0].is_text_copy) == (None, False)


def test_a_spelling_without_a_habit_is_kept_as_it_was():
    body = rb'{"messages":[{"role":"user","content":"\u0061bc"}]}'

    (message,) = parsed_and_same(CHAT, body).messages

    assert (message.parts[0].text, message.parts[0].payload) == ("abc", rb'"\u0061bc"')
    assert message.parts[0].is_text_copy


def choice(message, finish="stop", index=0):
    return {"index": index, "message": message, "logprobs": None, "finish_reason": finish}


def test_an_answer_gives_the_first_choice_and_its_alternatives():
    one = {"role": "assistant", "content": "one", "refusal": None}
    body = compact(
        {
            "id": "chatcmpl-1",
            "model": "gpt-a",
            "choices": [choice({**one, "content": "two"}, index=1), choice(one)],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2},
        }
    )

    read = parse_response(body, 200)

    assert said(read).parts[0].text == "one"
    assert [message.parts[0].text for message in read.alternatives] == ["two"]
    assert (read.status, read.stop_reason) == (GenerationStatus.COMPLETE, "stop")
    assert (counted(read).uncached_input, counted(read).output) == (9, 2)


@pytest.mark.parametrize(
    ("finish", "status"),
    [
        ("tool_calls", GenerationStatus.COMPLETE),
        ("length", GenerationStatus.TRUNCATED),
        ("content_filter", GenerationStatus.REFUSED),
        (None, GenerationStatus.INTERRUPTED),
    ],
)
def test_the_finish_reason_says_how_it_ended(finish, status):
    body = compact({"choices": [choice({"role": "assistant", "content": "x"}, finish)]})

    assert parse_response(body, 200).status == status


def test_a_call_that_the_length_cut_is_no_call_but_the_one_before_is():
    message = {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b", arguments='{"x":')]}

    read = parse_response(compact({"choices": [choice(message, "length")]}), 200)

    assert [(part.type, part.orphan) for part in said(read).parts] == [
        (PartType.TOOL_USE, False),
        (PartType.OTHER, True),
    ]


def test_an_error_answer_keeps_its_code():
    error = {
        "message": "No such model",
        "type": "invalid_request_error",
        "param": None,
        "code": "model_not_found",
    }

    read = parse_response(compact({"error": error}), 404)

    assert (read.status, read.error_code, read.error_message) == (
        GenerationStatus.FAILED,
        "model_not_found",
        "No such model",
    )


@pytest.mark.parametrize(
    ("message", "shell", "kinds"),
    [
        ({"role": "assistant", "content": "x", "refusal": None, "annotations": []}, FORM_STRING, ["text"]),
        (
            {"annotations": [], "content": None, "role": "assistant", "tool_calls": [call()]},
            None,
            ["tool_use"],
        ),
        ({"tool_calls": [call()], "role": "assistant", "content": "x"}, None, ["text", "tool_use"]),
    ],
)
def test_an_answers_frame_is_the_usual_one_where_it_says_nothing_more(message, shell, kinds):
    body = json.dumps({"choices": [choice(message)]}, indent=2).encode()

    read = said(parse_response(body, 200))

    assert (read.shell, [part.type for part in read.parts]) == (shell, kinds)


def test_an_answers_frame_that_says_more_is_kept_without_its_white_space():
    message = {"role": "assistant", "content": "x", "annotations": [{"title": "a  b"}]}
    body = json.dumps({"choices": [choice(message)]}, indent=2).encode()

    shell = said(parse_response(body, 200)).shell

    assert shell == f'{{"role":"assistant","content":{HOLE_STRING},"annotations":[{{"title":"a  b"}}]}}'
