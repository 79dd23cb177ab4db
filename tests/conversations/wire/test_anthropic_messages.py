"""A request of Anthropic's dialect becomes envelope, messages and parts."""

import pytest

from conversations.vocabulary import PartStatus, PartType, Role
from conversations.wire.anthropic_messages import parse_request
from conversations.wire.shapes import COMPACT, SPACED
from conversations.wire.shells import FORM_STRING
from tests.conversations.wire.anthropic import ANTHROPIC, blocks_of, messages_of, parts_of
from tests.conversations.wire.bodies import compact, parsed_and_same, spaced


@pytest.mark.parametrize(("write", "style"), [(compact, COMPACT), (spaced, SPACED)])
def test_a_body_is_cut_into_envelope_preamble_tools_and_messages(write, style):
    body = write(
        {
            "max_tokens": 64,
            "messages": [
                {"role": "user", "content": "Où est ma commande ?"},
                {"role": "assistant", "content": [{"type": "text", "text": "Je regarde."}]},
            ],
            "model": "claude-x",
            "stream": True,
            "system": [{"type": "text", "text": "Sei höflich"}],
            "tools": [{"name": "find", "input_schema": {"type": "object"}}],
        }
    )

    parsed = parsed_and_same(ANTHROPIC, body)

    assert (parsed.model, parsed.is_stream, parsed.style) == ("claude-x", True, style)
    assert parsed.preamble == write([{"type": "text", "text": "Sei höflich"}])
    assert parsed.tools == write([{"name": "find", "input_schema": {"type": "object"}}])
    assert [m.role for m in parsed.messages] == [Role.USER, Role.ASSISTANT]
    assert [m.parts[0].text for m in parsed.messages] == ["Où est ma commande ?", "Je regarde."]
    assert [m.shell for m in parsed.messages] == [FORM_STRING, None]
    assert [m.parts[0].shell for m in parsed.messages] == [None, None]


def test_a_string_and_a_list_of_one_text_are_told_apart():
    listed = messages_of(
        {"role": "user", "content": "same"},
        {"role": "user", "content": [{"type": "text", "text": "same"}]},
    )

    assert [(m.shell, m.parts[0].text) for m in listed] == [(FORM_STRING, "same"), (None, "same")]


def test_calls_and_results_carry_their_ids_and_a_results_string_is_text():
    asked, answered = messages_of(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"b": 1}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": "no such order",
                    "is_error": True,
                }
            ],
        },
    )
    (call,), (result,) = asked.parts, answered.parts

    assert (call.type, call.tool_call_id, call.tool_name) == (PartType.TOOL_USE, "toolu_1", "find")
    assert call.payload == b'{"type":"tool_use","id":"toolu_1","name":"find","input":{"b":1}}'
    assert (result.type, result.tool_call_id, result.status) == (
        PartType.TOOL_RESULT,
        "toolu_1",
        PartStatus.ERROR,
    )
    assert (result.text, result.payload) == ("no such order", None)


def test_the_texts_of_a_result_in_several_blocks_are_one_text():
    (part,) = parts_of(
        {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [
                {"type": "text", "text": "first\nline"},
                {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
                {"type": "text", "text": "second"},
            ],
        }
    )

    assert part.text == "first\nline\nsecond"
    assert part.payload is None


def test_results_in_several_user_messages_stay_in_several():
    listed = messages_of(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"toolu_P{n}", "name": "get", "input": {}} for n in "123"],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_P1"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_P2", "content": "[]"},
                {"type": "tool_result", "tool_use_id": "toolu_P3", "content": "n/a"},
            ],
        },
    )

    assert [[p.tool_call_id for p in m.parts] for m in listed] == [
        ["toolu_P1", "toolu_P2", "toolu_P3"],
        ["toolu_P1"],
        ["toolu_P2", "toolu_P3"],
    ]


def test_adjacent_assistant_messages_are_one_turn_with_both_layouts():
    body = (
        b'{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"one"} ,'
        b'{"role":"assistant","content":[{"type":"text","text":"two"},'
        b'{"type":"tool_use","id":"c","name":"f","input":{}}]}]}'
    )

    _, turn = parsed_and_same(ANTHROPIC, body).messages

    assert [part.text for part in turn.parts] == ["one", "two", None]
    assert turn.wire_index == 1


def test_signed_reasoning_stays_byte_equal_and_in_order():
    parts = parts_of(
        {"type": "thinking", "thinking": "step one", "signature": "c2lnLUE="},
        {"type": "redacted_thinking", "data": "b3BhcXVlLUI="},
        {"type": "thinking", "thinking": "", "signature": "c2lnLUM="},
        {"type": "tool_use", "id": "toolu_S1", "name": "q", "input": {}},
        role="assistant",
    )

    assert [part.type for part in parts] == [*[PartType.THINKING] * 3, PartType.TOOL_USE]
    assert [part.text for part in parts] == ["step one", None, "", None]
    assert parts[1].provider_type == "redacted_thinking"


def test_server_tools_have_types_of_their_own():
    call, result, failed = parts_of(
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "srvtoolu_2",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_allowed"},
        },
        role="assistant",
    )

    assert (call.type, call.tool_call_id, call.tool_name) == (
        PartType.SERVER_TOOL_USE,
        "srvtoolu_1",
        "web_search",
    )
    assert (result.type, result.tool_call_id, result.provider_type, result.status) == (
        PartType.SERVER_TOOL_RESULT,
        "srvtoolu_1",
        "web_search_tool_result",
        PartStatus.OK,
    )
    assert failed.status == PartStatus.ERROR


def test_a_cache_mark_is_cut_out_so_that_equal_blocks_are_one():
    mark = {"type": "ephemeral"}
    plain = {"type": "text", "text": "a"}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [plain]}
    image = {"type": "image", "source": {"type": "file", "file_id": "f"}}
    body = blocks_of(
        {**plain, "cache_control": mark},
        {"cache_control": mark, **plain},
        {**result, "content": [{**plain, "cache_control": mark}], "cache_control": mark},
        {**image, "cache_control": mark},
    )

    (message,) = parse_request(body).messages

    assert message.parts == parts_of(plain, plain, result, image)


def test_leading_system_messages_are_no_messages_and_later_ones_are():
    system = {"role": "system", "content": "be kind"}
    user = {"role": "user", "content": "hi"}

    parsed = parsed_and_same(ANTHROPIC, compact({"messages": [system, system, user, system]}))

    assert parsed.leading == compact(system) + b"," + compact(system)
    assert [(m.role, m.wire_index) for m in parsed.messages] == [(Role.USER, 2), (Role.SYSTEM, 3)]
