import json

import pytest

from conversations.vocabulary import Dialect, GenerationStatus, PartStatus, PartType, Role
from conversations.wire.openai_responses import parse_response
from conversations.wire.render import render_request
from conversations.wire.shells import FORM_STRING
from tests.conversations.wire.bodies import compact, counted, parsed_and_same, said, spaced

RESPONSES = Dialect.OPENAI_RESPONSES
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "find", "arguments": '{"a": 1}'}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "found"}
USER = {"role": "user", "content": "hi"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Done", "annotations": []}],
}


def messages_of(*items, write=compact):
    return parsed_and_same(RESPONSES, write({"input": list(items), "model": "m"})).messages


def test_a_bare_string_is_a_users_message_in_its_usual_form():
    parsed = parsed_and_same(RESPONSES, compact({"input": "Où ?", "instructions": "be kind", "model": "m"}))

    (message,) = parsed.messages
    assert (message.role, message.shell, message.parts[0].text) == (Role.USER, FORM_STRING, "Où ?")
    assert parsed.preamble == b'"be kind"'


def test_the_envelope_of_a_bare_string_takes_a_list_when_the_conversation_goes_on():
    parsed = parsed_and_same(RESPONSES, compact({"input": "hi", "model": "m"}))
    further = messages_of(CALL, RESULT)

    body = render_request(
        parsed.envelope, [*parsed.messages, *further], dialect=RESPONSES, style=parsed.style
    )

    assert body == compact({"input": [USER, CALL, RESULT], "model": "m"})


@pytest.mark.parametrize("write", [compact, spaced])
def test_the_items_of_one_turn_are_one_message(write):
    listed = messages_of(USER, REASONING, CALL, RESULT, REASONING, SAID, USER, write=write)

    assert [(m.role, [p.type for p in m.parts]) for m in listed] == [
        (Role.USER, [PartType.TEXT]),
        (Role.ASSISTANT, [PartType.THINKING, PartType.TOOL_USE]),
        (Role.TOOL, [PartType.TOOL_RESULT]),
        (Role.ASSISTANT, [PartType.THINKING, PartType.TEXT]),
        (Role.USER, [PartType.TEXT]),
    ]
    assert [m.shell for m in listed[1:3]] == [None, None]
    assert [m.wire_index for m in listed] == [0, 1, 3, 4, 6]


def test_calls_are_paired_by_call_id_and_texts_are_text():
    _, asking, answering = messages_of(USER, CALL, RESULT)

    (call,), (result,) = asking.parts, answering.parts
    assert (call.tool_call_id, call.tool_name, call.payload) == ("call_1", "find", compact(CALL))
    assert (result.tool_call_id, result.text, result.status) == ("call_1", "found", PartStatus.OK)


def test_reasoning_summaries_are_text_in_their_shell():
    summary = [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}]

    (message,) = messages_of({**REASONING, "summary": summary})

    assert (message.parts[0].type, message.parts[0].text) == (PartType.THINKING, "First.\nThen.")


def test_outputs_in_blocks_are_text_too():
    blocks = [
        {"type": "input_text", "text": "one"},
        {"type": "input_image", "image_url": "https://example.com/x"},
    ]

    (message,) = messages_of({**RESULT, "output": blocks})

    assert (message.parts[0].text, message.parts[0].payload) == ("one", None)


def test_tools_that_the_provider_runs_are_no_client_calls():
    container = {"type": "container_reference", "container_id": "c"}
    listed = messages_of(
        USER,
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        {"type": "shell_call", "call_id": "call_s", "action": {}, "environment": container},
        {"type": "shell_call_output", "call_id": "call_s", "output": []},
        {"type": "mcp_call", "id": "mcp_1", "name": "lookup", "arguments": "{}", "output": "x"},
    )

    assert [(p.type, p.tool_call_id, p.tool_name) for p in listed[1].parts] == [
        (PartType.SERVER_TOOL_USE, "ws_1", "web_search"),
        (PartType.SERVER_TOOL_USE, "call_s", "shell"),
        (PartType.SERVER_TOOL_RESULT, "call_s", None),
        (PartType.SERVER_TOOL_USE, "mcp_1", "lookup"),
    ]


def test_tools_that_the_client_runs_are_its_calls():
    listed = messages_of(
        {"type": "local_shell_call", "call_id": "l", "action": {}},
        {"type": "local_shell_call_output", "call_id": "l", "output": "ok"},
        {"type": "apply_patch_call", "call_id": "p", "operation": {}},
        {"type": "apply_patch_call_output", "call_id": "p", "status": "failed", "output": "no"},
    )

    assert [(m.role, m.parts[0].type, m.parts[0].tool_call_id, m.parts[0].tool_name) for m in listed] == [
        (Role.ASSISTANT, PartType.TOOL_USE, "l", "local_shell"),
        (Role.TOOL, PartType.TOOL_RESULT, "l", None),
        (Role.ASSISTANT, PartType.TOOL_USE, "p", "apply_patch"),
        (Role.TOOL, PartType.TOOL_RESULT, "p", None),
    ]
    assert listed[3].parts[0].status == PartStatus.ERROR


def test_the_output_of_a_local_shell_may_name_its_call_by_id():
    _, output = messages_of(
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "action": {}},
        {"type": "local_shell_call_output", "id": "call_1", "output": "ok"},
    )

    assert (output.parts[0].tool_call_id, output.parts[0].orphan) == ("call_1", False)


def test_unknown_items_and_references_survive():
    listed = messages_of(
        USER,
        {"type": "item_reference", "id": "msg_9"},
        {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
        {"type": "novel_item", "x": 1.0},
        {"role": "critic", "content": "hm"},
    )

    assert [(m.role, m.parts[0].type, m.parts[0].provider_type) for m in listed[1:]] == [
        (Role.ASSISTANT, PartType.OTHER, "item_reference"),
        (Role.USER, PartType.OTHER, "mcp_approval_response"),
        (Role.USER, PartType.OTHER, "novel_item"),
        (Role.ASSISTANT, PartType.TEXT, ""),
    ]
    assert listed[4].provider_role == "critic"


def test_what_is_on_the_providers_side_is_named():
    body = {"model": "m", "input": [USER], "previous_response_id": "resp_1", "conversation": {"id": "conv_1"}}

    parsed = parsed_and_same(RESPONSES, compact(body))

    assert (parsed.previous_response_id, parsed.hosted_conversation_id) == ("resp_1", "conv_1")


def test_a_body_without_input_has_no_messages():
    parsed = parsed_and_same(RESPONSES, compact({"model": "m", "prompt": {"id": "pmpt_1"}}))

    assert parsed.messages == []


def test_leading_developer_items_are_the_preamble():
    developer = {"type": "message", "role": "developer", "content": "be brief"}

    parsed = parsed_and_same(RESPONSES, compact({"input": [developer, USER]}))

    assert parsed.leading == compact(developer)
    assert len(parsed.messages) == 1


def incomplete(reason):
    return {"status": "incomplete", "incomplete_details": {"reason": reason}}


def answer(*output, **members):
    whole = {"id": "resp_1", "status": "completed", "model": "gpt-b", "error": None, "output": list(output)}
    return compact(whole | members)


def test_an_answer_is_one_message_of_exact_items():
    read = parse_response(answer(REASONING, CALL, SAID, conversation={"id": "conv_1"}), 200)

    assert [part.type for part in said(read).parts] == [
        PartType.THINKING,
        PartType.TOOL_USE,
        PartType.TEXT,
    ]
    assert said(read).parts[1].payload == compact(CALL)
    assert (read.status, read.hosted_conversation_id) == (GenerationStatus.COMPLETE, "conv_1")


def test_searches_are_counted_with_the_usage():
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 2}

    read = parse_response(answer(search, search, SAID, usage=usage), 200)

    assert (counted(read).uncached_input, counted(read).cache_read, counted(read).web_searches) == (6, 4, 2)


@pytest.mark.parametrize(
    ("members", "status", "reason"),
    [
        (incomplete("max_output_tokens"), "truncated", "max_output_tokens"),
        (incomplete("content_filter"), "refused", "content_filter"),
        ({"status": "cancelled"}, "cancelled", "cancelled"),
        ({"status": "queued"}, "queued", "queued"),
        ({"status": "failed", "error": {"code": "server_error", "message": "x"}}, "failed", "failed"),
    ],
)
def test_the_status_says_how_it_ended(members, status, reason):
    read = parse_response(answer(SAID, **members), 200)

    assert (read.status, read.stop_reason) == (GenerationStatus(status), reason)


def test_a_refusal_is_text_and_the_answer_refused():
    refusal = {**SAID, "content": [{"type": "refusal", "refusal": "I cannot."}]}

    read = parse_response(answer(refusal), 200)

    (part,) = said(read).parts
    assert (part.type, part.provider_type, part.text) == (PartType.TEXT, "refusal", "I cannot.")
    assert read.status == GenerationStatus.REFUSED


def test_an_answer_that_was_written_with_indents_is_a_usual_turn():
    whole = {"id": "resp_1", "status": "completed", "output": [REASONING, CALL]}

    read = said(parse_response(json.dumps(whole, indent=2).encode(), 200))

    assert read.shell is None
    assert json.loads(read.parts[1].payload or b"") == CALL
