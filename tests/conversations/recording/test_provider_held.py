"""Conversations whose history the provider holds."""

import json

import pytest

from conversations.vocabulary import Dialect
from tests.conversations.recording.exchanges import given_back, tree


@pytest.mark.parametrize("member", ["previous_response_id", "conversation"])
def test_a_conversation_that_the_provider_holds_is_gone_on_with(record, member):
    named = (
        {"previous_response_id": "resp_1"} if member == "previous_response_id" else {"conversation": "conv_9"}
    )
    opening = {} if member == "previous_response_id" else named
    first = record(
        responses_body("Hi", **opening),
        responses_answer("resp_1", "Hello."),
        dialect=Dialect.OPENAI_RESPONSES,
    )
    sent = responses_body("And now?", **named)

    second = record(sent, responses_answer("resp_2", "Then."), dialect=Dialect.OPENAI_RESPONSES)

    assert second.conversation_id == first.conversation_id
    assert [row[1] for row in tree(first.conversation_id)] == [None, 1, 2, 3]
    assert (second.match, second.proof) == ("continued", "exact")
    assert given_back(first, 2) == sent


def responses_body(words, **members) -> bytes:
    item = {"role": "user", "content": [{"type": "input_text", "text": words}]}
    return json.dumps({"model": "gpt-b", "input": [item], **members}, separators=(",", ":")).encode()


def responses_answer(response_id, words) -> bytes:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    item = {
        "id": f"msg_{response_id}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
    value = {
        "id": response_id,
        "object": "response",
        "status": "completed",
        "model": "gpt-b",
        "output": [item],
    }
    return json.dumps(value).encode()
