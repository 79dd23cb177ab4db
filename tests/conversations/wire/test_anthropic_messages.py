import pytest

from conversations.drafts import HOLE_STRING
from conversations.vocabulary import Dialect, GenerationStatus, PartStatus, PartType, Role
from conversations.wire.anthropic_messages import parse_request, parse_response
from conversations.wire.shapes import COMPACT, SPACED, WireError
from conversations.wire.shells import FORM_STRING
from tests.conversations.wire.bodies import compact, parsed_and_same, rendered, said, spaced

ANTHROPIC = Dialect.ANTHROPIC_MESSAGES


def blocks_of(*blocks, role="user"):
    return compact({"model": "m", "messages": [{"role": role, "content": list(blocks)}]})


def parts_of(*blocks, role="user"):
    (message,) = parsed_and_same(ANTHROPIC, blocks_of(*blocks, role=role)).messages
    return message.parts


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
    body = compact(
        {
            "messages": [
                {"role": "user", "content": "same"},
                {"role": "user", "content": [{"type": "text", "text": "same"}]},
            ]
        }
    )

    listed = parsed_and_same(ANTHROPIC, body).messages

    assert [(m.shell, m.parts[0].text) for m in listed] == [(FORM_STRING, "same"), (None, "same")]


def test_calls_and_results_carry_their_ids_and_a_results_string_is_text():
    body = compact(
        {
            "messages": [
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
            ]
        }
    )

    call, result = (m.parts[0] for m in parsed_and_same(ANTHROPIC, body).messages)

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
    body = compact(
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": f"toolu_P{n}", "name": "get", "input": {}} for n in "123"
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_P1"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_P2", "content": "[]"},
                        {"type": "tool_result", "tool_use_id": "toolu_P3", "content": "n/a"},
                    ],
                },
            ]
        }
    )

    listed = parsed_and_same(ANTHROPIC, body).messages

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


def test_a_repeated_call_id_in_one_message_is_kept_and_marked():
    first, second = parts_of(
        {"type": "tool_use", "id": "charge:1", "name": "charge", "input": {"amount": 2400}},
        {"type": "tool_use", "id": "charge:1", "name": "unknown", "input": {}},
        role="assistant",
    )

    assert (first.orphan, second.orphan) == (False, True)


def test_a_call_without_an_id_gets_one_that_says_so():
    parts = parts_of(
        {"type": "tool_use", "name": "a", "input": {}},
        {"type": "tool_use", "id": "", "name": "b", "input": {}},
        {"type": "tool_use", "id": "minted-0", "name": "c", "input": {}},
        role="assistant",
    )

    assert [(part.tool_call_id, part.is_minted_id) for part in parts] == [
        ("minted-0-", True),
        ("minted-1", True),
        ("minted-0", False),
    ]


def test_an_id_that_no_index_holds_is_replaced_on_call_and_result_alike():
    body = compact(
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "x" * 3000, "name": "f", "input": {}}],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x" * 3000}]},
            ]
        }
    )

    call, result = (m.parts[0] for m in parsed_and_same(ANTHROPIC, body).messages)

    assert call.tool_call_id == result.tool_call_id
    assert str(call.tool_call_id).startswith("minted-")


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


def test_unknown_blocks_fields_and_roles_survive():
    body = compact(
        {
            "messages": [
                {"role": "model", "content": [{"type": "connector_text", "x": [1, 2]}], "extra": {"y": None}},
                {"role": "user", "content": [{"type": "text", "text": "a", "novel": 1.0}, "stray", 7]},
                "no message at all",
                {"content": "without a role"},
            ]
        }
    )

    first, second, third, fourth = parsed_and_same(ANTHROPIC, body).messages

    assert (first.role, first.provider_role) == (Role.ASSISTANT, "model")
    assert (first.parts[0].type, first.parts[0].provider_type) == (PartType.OTHER, "connector_text")
    assert first.parts[0].payload == b'{"type":"connector_text","x":[1,2]}'
    assert (second.parts[0].text, second.parts[0].shell) == (
        "a",
        f'{{"type":"text","text":{HOLE_STRING},"novel":1.0}}',
    )
    assert [part.payload for part in second.parts[1:]] == [b'"stray"', b"7"]
    assert third.parts[0].text == "no message at all"
    assert (fourth.role, fourth.parts[0].text) == (Role.USER, "without a role")


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


def test_what_postgresql_cannot_hold_stays_in_the_payload_beside_a_readable_copy():
    body = (
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"before\\u0000after"},'
        b'{"type":"text","text":"half \\ud83d end"},{"type":"text","text":"pair \\ud83c\\udf78 ok"},'
        b'{"type":"text","text":"literal \\\\u0000 in docs"},'
        b'{"type":"tool_use","id":"a\\u0000b","name":"f","input":{"\\u0000":1}}]},'
        b'{"role":"user","content":"bare \\u0000"}]}'
    )

    blocks, bare = parsed_and_same(ANTHROPIC, body).messages

    assert [(part.text, part.is_text_copy) for part in blocks.parts] == [
        ("before\ufffdafter", True),
        ("half \ufffd end", True),
        ("pair \U0001f378 ok", False),
        ("literal \\u0000 in docs", False),
        (None, False),
    ]
    assert blocks.parts[0].payload == b'{"type":"text","text":"before\\u0000after"}'
    assert blocks.parts[4].tool_call_id == "a\ufffdb"
    assert (bare.parts[0].payload, bare.parts[0].text) == (b'"bare \\u0000"', "bare \ufffd")


def test_repeated_names_order_and_space_are_kept():
    body = (
        b'{"model":"m-1",  "messages":[{"role":"assistant","content":[{"type":"tool_use","id":"toolu_K1",'
        b'"name":"q","input":{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}}]}],'
        b'"cache_control":{"type":"ephemeral","ttl":"5m"}}'
    )

    parsed_and_same(ANTHROPIC, body)


def test_empty_is_not_missing():
    body = compact(
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": ""}, {"type": "text", "text": " \n\t "}],
                },
                {"role": "assistant", "content": []},
                {"role": "user", "content": ""},
                {"role": "user", "content": None},
                {"role": "user"},
            ]
        }
    )

    listed = parsed_and_same(ANTHROPIC, body).messages

    assert [[part.text for part in m.parts] for m in listed] == [["", " \n\t "], [], [""], [], []]


def test_leading_system_messages_are_no_messages_and_later_ones_are():
    system = {"role": "system", "content": "be kind"}
    user = {"role": "user", "content": "hi"}

    parsed = parsed_and_same(ANTHROPIC, compact({"messages": [system, system, user, system]}))

    assert parsed.leading == compact(system) + b"," + compact(system)
    assert [(m.role, m.wire_index) for m in parsed.messages] == [(Role.USER, 2), (Role.SYSTEM, 3)]


@pytest.mark.parametrize("listed", [b'"x"', b"{}", b"null", b"3"])
def test_messages_that_are_no_list_are_an_error_with_its_place(listed):
    with pytest.raises(WireError, match=r"^messages: not a list$"):
        parse_request(b'{"model":"m","messages":' + listed + b"}")


def test_a_body_in_no_known_style_still_gives_exact_pieces():
    body = b'{ "messages" : [ {"role":"user" , "content":"x"} ] , "model":"m" }'

    parsed = parse_request(body)

    assert rendered(parsed) == body


def answer(**members):
    whole = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-a",
        "content": [],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 3, "service_tier": "standard"},
    }
    return compact(whole | members)


def test_an_answer_gives_exact_blocks_and_how_it_ended():
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {"b": 1, "a": 0.10}}

    read = parse_response(
        answer(content=[{"type": "text", "text": "So"}, block], stop_reason="tool_use"), 200
    )

    assert (read.status, read.stop_reason, read.served_model) == (
        GenerationStatus.COMPLETE,
        "tool_use",
        "claude-a",
    )
    assert (read.provider_response_id, read.service_tier) == ("msg_1", "standard")
    assert [(part.text, part.payload) for part in said(read).parts] == [("So", None), (None, compact(block))]


def test_a_call_at_the_end_of_a_truncated_answer_is_no_call():
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}

    (part,) = said(parse_response(answer(content=[block], stop_reason="max_tokens"), 200)).parts

    assert (part.type, part.orphan) == (PartType.OTHER, True)


def test_a_refusal_says_why():
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}

    read = parse_response(answer(stop_reason="refusal", stop_details=details), 200)

    assert (read.status, read.error_code, read.error_message) == (
        GenerationStatus.REFUSED,
        "cyber",
        "Not this.",
    )
    assert said(read).parts == []


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        (
            b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
            529,
            "overloaded_error",
            "Overloaded",
        ),
        (b"<html>Bad gateway</html>", 502, "http_502", "<html>Bad gateway</html>"),
        (b"", 504, "http_504", ""),
        (b'{"detail":"odd"}', 500, "http_500", '{"detail":"odd"}'),
        (b"upstream went away \x00 \xff", None, "not_json", "upstream went away \ufffd \ufffd"),
    ],
)
def test_a_failure_keeps_its_code_and_words(body, status, code, message):
    read = parse_response(body, status)

    assert read.status == GenerationStatus.FAILED
    assert (read.error_code, read.error_message, read.message) == (code, message, None)


def test_half_a_json_answer_is_interrupted():
    read = parse_response(answer(content=[{"type": "text", "text": "So"}])[:60], 200)

    assert (read.status, read.message) == (GenerationStatus.INTERRUPTED, None)
    assert read.notes[0].startswith("the answer is not whole: character")
