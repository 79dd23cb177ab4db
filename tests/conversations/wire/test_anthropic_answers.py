"""What Anthropic answered: its blocks, and how it ended."""

import pytest

from conversations.vocabulary import GenerationStatus, PartType
from conversations.wire.anthropic_messages import parse_response
from tests.conversations.wire.bodies import compact, said


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
