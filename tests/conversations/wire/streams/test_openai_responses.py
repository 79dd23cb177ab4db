import pytest

from conversations.vocabulary import Dialect, GenerationStatus, PartType
from conversations.wire.openai_responses import parse_response
from tests.conversations.wire.bodies import counted, said
from tests.conversations.wire.streams.sdks import known, rendered_blocks, responses_output, sse

RESPONSES = Dialect.OPENAI_RESPONSES


def response(status="completed", output=(), **more):
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-b",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    return body | more


def event(kind, **more):
    return {"type": f"response.{kind}", "sequence_number": 0, **more}


CREATED = event("created", response=response("in_progress"))


def message_item(text=None, status="completed"):
    content = [] if text is None else [{"type": "output_text", "text": text, "annotations": []}]
    return {"id": "msg_1", "type": "message", "status": status, "content": content, "role": "assistant"}


def call_item(arguments, status="completed"):
    return {
        "id": "fc_1",
        "type": "function_call",
        "status": status,
        "arguments": arguments,
        "call_id": "call_1",
        "name": "find",
    }


def text_events(index=0):
    at = {"output_index": index, "content_index": 0, "item_id": "msg_1"}
    part = {"type": "output_text", "text": "", "annotations": []}
    return [
        event("output_item.added", output_index=index, item=message_item(status="in_progress")),
        event("content_part.added", part=part, **at),
        event("output_text.delta", delta="Your ref", logprobs=[], **at),
        event("output_text.delta", delta="und", logprobs=[], **at),
        event("output_text.done", text="Your refund", logprobs=[], **at),
        event("content_part.done", part=part | {"text": "Your refund"}, **at),
        event("output_item.done", output_index=index, item=message_item("Your refund")),
    ]


def call_events(index=0):
    at = {"output_index": index, "item_id": "fc_1"}
    return [
        event("output_item.added", output_index=index, item=call_item("", "in_progress")),
        event("function_call_arguments.delta", delta='{"order":', **at),
        event("function_call_arguments.delta", delta="1042}", **at),
        event("function_call_arguments.done", arguments='{"order":1042}', name="find", **at),
        event("output_item.done", output_index=index, item=call_item('{"order":1042}')),
    ]


USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 120,
}
OUTPUT = [message_item("Your refund"), call_item('{"order":1042}')]
COMPLETED = event("completed", response=response(output=OUTPUT, usage=USAGE))
WHOLE = [CREATED, *text_events(), *call_events(1), COMPLETED]


def test_a_whole_stream_is_what_the_providers_sdk_accumulates():
    body = sse(WHOLE)

    answer = parse_response(body, 200)

    assert rendered_blocks(said(answer), RESPONSES) == responses_output(body)
    assert (answer.status, answer.notes) == (GenerationStatus.COMPLETE, [])
    assert (answer.provider_response_id, answer.served_model) == ("resp_1", "gpt-b")


def test_an_answer_of_several_items_is_one_message():
    parts = said(parse_response(sse(WHOLE), 200)).parts

    assert [(part.type, part.text, part.tool_call_id) for part in parts] == [
        (PartType.TEXT, "Your refund", None),
        (PartType.TOOL_USE, None, "call_1"),
    ]


def test_usage_includes_what_was_cached():
    usage = counted(parse_response(sse(WHOLE), 200))

    assert (usage.uncached_input, usage.cache_read, usage.cache_write_5m) == (30, 60, 10)
    assert (usage.output, usage.reasoning, usage.web_searches) == (20, 5, 0)


def test_without_the_closing_event_the_items_that_were_done_are_kept():
    answer = parse_response(sse(WHOLE[:-1]), 200)

    assert answer.status == GenerationStatus.INTERRUPTED
    assert rendered_blocks(said(answer), RESPONSES) == known(OUTPUT)


def test_a_bare_delta_before_the_end_of_the_stream_is_kept():
    body = sse([CREATED, event("output_text.delta", delta="Your refund of")])

    answer = parse_response(body, 200)

    assert answer.status == GenerationStatus.INTERRUPTED
    assert [part.text for part in said(answer).parts] == ["Your refund of"]


def test_an_incomplete_answer_is_truncated():
    output = [message_item("Long", status="incomplete")]
    closing = response("incomplete", output, incomplete_details={"reason": "max_output_tokens"})

    answer = parse_response(sse([CREATED, event("incomplete", response=closing)]), 200)

    assert (answer.status, answer.stop_reason) == (GenerationStatus.TRUNCATED, "max_output_tokens")
    assert said(answer).parts[0].text == "Long"


def test_a_failed_answer_keeps_its_error_and_its_text():
    error = {"code": "server_error", "message": "The model failed"}
    closing = response("failed", error=error)

    answer = parse_response(sse([CREATED, *text_events()[:3], event("failed", response=closing)]), 200)

    assert (answer.status, answer.error_code) == (GenerationStatus.FAILED, "server_error")
    assert said(answer).parts[0].text == "Your ref"


def test_an_error_event_is_a_failure():
    error = {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": None}

    answer = parse_response(sse([CREATED, *text_events()[:3], error]), 200)

    assert (answer.status, answer.error_code) == (GenerationStatus.FAILED, "rate_limit_exceeded")
    assert said(answer).parts[0].text == "Your ref"


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_a_call_that_was_cut_is_never_a_call(length):
    answer = parse_response(sse([CREATED, *call_events()[:length]]), 200)

    (part,) = said(answer).parts
    assert (part.type, part.orphan, part.tool_call_id) == (PartType.OTHER, True, "call_1")
    assert "the call of find was cut off" in answer.notes


def test_a_call_in_an_incomplete_answer_that_says_so_is_no_call():
    output = [call_item('{"ord', status="incomplete")]
    closing = response("incomplete", output, incomplete_details={"reason": "max_output_tokens"})

    (part,) = said(parse_response(sse([event("incomplete", response=closing)]), 200)).parts

    assert (part.type, part.orphan) == (PartType.OTHER, True)


def test_reasoning_is_put_together_from_its_pieces():
    at = {"output_index": 0, "item_id": "rs_1", "summary_index": 0}
    summary = {"type": "summary_text", "text": ""}
    body = sse(
        [
            CREATED,
            event(
                "output_item.added", output_index=0, item={"id": "rs_1", "type": "reasoning", "summary": []}
            ),
            event("reasoning_summary_part.added", part=summary, **at),
            event("reasoning_summary_text.delta", delta="First ", **at),
            event("reasoning_summary_text.delta", delta="look.", **at),
        ]
    )

    (part,) = said(parse_response(body, 200)).parts

    assert (part.type, part.text) == (PartType.THINKING, "First look.")


def test_items_that_only_the_stream_held_are_kept_when_the_closing_event_lacks_them():
    answer = parse_response(sse([CREATED, *text_events(), event("completed", response=response())]), 200)

    assert answer.status == GenerationStatus.COMPLETE
    assert said(answer).parts[0].text == "Your refund"


def test_reasoning_encrypted_anew_at_the_end_stays_as_it_was_streamed():
    def reasoning(sealed, summary=()):
        return {"id": "rs_1", "type": "reasoning", "summary": list(summary), "encrypted_content": sealed}

    def parsed(closing_item):
        return parse_response(
            sse(
                [
                    CREATED,
                    event("output_item.added", output_index=0, item=reasoning("gAAA-begun")),
                    event("output_item.done", output_index=0, item=reasoning("gAAA-streamed")),
                    event("completed", response=response(output=[closing_item])),
                ]
            )
        )

    resealed = parsed(reasoning("gAAA-closing"))
    rewritten = parsed(reasoning("gAAA-closing", summary=[{"type": "summary_text", "text": "so"}]))

    assert rendered_blocks(resealed.message, RESPONSES) == [known(reasoning("gAAA-streamed"))]
    assert rendered_blocks(rewritten.message, RESPONSES)[0]["encrypted_content"] == "gAAA-closing"


@pytest.mark.parametrize(
    ("closing", "status", "reason"),
    [
        (event("completed", response={"id": "resp_1"}), GenerationStatus.COMPLETE, "completed"),
        (event("completed"), GenerationStatus.COMPLETE, "completed"),
        (
            event("incomplete", response={"incomplete_details": {"reason": "max_output_tokens"}}),
            GenerationStatus.TRUNCATED,
            "max_output_tokens",
        ),
        (
            event("incomplete", incomplete_details={"reason": "content_filter"}),
            GenerationStatus.REFUSED,
            "content_filter",
        ),
        (event("incomplete", response={"output": []}), GenerationStatus.TRUNCATED, "incomplete"),
        (
            event("failed", response={"error": {"code": "server_error", "message": "boom"}}),
            GenerationStatus.FAILED,
            "failed",
        ),
        (event("completed", response=None), GenerationStatus.COMPLETE, "completed"),
    ],
)
def test_a_closing_event_that_does_not_repeat_the_answer_says_how_it_ended_all_the_same(
    closing, status, reason
):
    events = [event("created"), event("output_text.delta", delta="Your refund of"), closing]

    answer = parse_response(sse(events), 200)
    twice = parse_response(sse([*events, *events]), 200)

    assert (answer.status, answer.stop_reason) == (status, reason)
    assert [part.text for part in said(answer).parts] == ["Your refund of"]
    assert twice == answer


def test_a_call_that_was_never_done_is_no_call_though_the_closing_event_says_completed():
    events = [*call_events()[:-2], event("completed", response={"id": "resp_1"})]

    answer = parse_response(sse(events), 200)

    assert [part.type for part in said(answer).parts] == [PartType.OTHER]


def test_pieces_without_an_index_find_their_item_by_its_id():
    first, second = ({**call_item(""), "id": f"fc_{n}", "call_id": f"call_{n}"} for n in (1, 2))
    events = [
        CREATED,
        event("output_item.added", item=first),
        event("output_item.added", item=second),
        event("function_call_arguments.delta", item_id="fc_1", delta='{"order":1}'),
        event("function_call_arguments.delta", item_id="fc_2", delta='{"order":2}'),
        event("output_item.done", item={**first, "arguments": '{"order":1}'}),
        event("output_item.done", item={**second, "arguments": '{"order":2}'}),
        event("completed", response={"id": "resp_1", "status": "completed"}),
    ]

    answer = parse_response(sse(events), 200)

    assert answer.notes == []
    assert [(part.type, part.tool_call_id) for part in said(answer).parts] == [
        (PartType.TOOL_USE, "call_1"),
        (PartType.TOOL_USE, "call_2"),
    ]
