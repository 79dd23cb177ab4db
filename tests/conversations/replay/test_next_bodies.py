import json

import pytest

from access.actors import Actor, ActorKind
from conversations.models import Message, MessagePart
from conversations.replay import NotReplayableError, next_body, next_body_at
from conversations.services.appending import append_message, edit_message
from conversations.vocabulary import Dialect
from tests.conversations import drafts
from tests.conversations.conftest import NOW
from tests.conversations.recording.exchanges import answer, assistant, body, call, result, text, user

CUSTOMER = Actor(kind=ActorKind.CUSTOMER)


def leaf_of(exchange) -> Message:
    return Message.objects.get(conversation_id=exchange.conversation_id, seq=exchange.answer_seq)


def test_the_next_body_is_the_last_one_with_what_came_since(record):
    terms = {"system": [text("You help.")], "tools": [{"name": "q"}], "temperature": 0.5}
    first = record(body(user("Hi"), **terms), "Hello.")
    later = append_message(
        conversation_id=first.conversation_id, message=drafts.user("And now?"), actor=CUSTOMER, now=NOW
    )

    composed = next_body_at(conversation_id=first.conversation_id, leaf_seq=later.seq)

    assert composed.body == body(user("Hi"), assistant(text("Hello.")), user(text("And now?")), **terms)
    assert (composed.dialect, composed.violations, composed.notes) == (Dialect.ANTHROPIC_MESSAGES, [], [])


def test_the_terms_are_those_of_the_last_attempt_on_this_path(record):
    first = record(body(user("Hi"), temperature=0.1), "Hello.")
    record(body(user("Hi"), temperature=0.9), "Good day.", after=first)

    composed = next_body(leaf_of(first))

    assert json.loads(composed.body)["temperature"] == 0.1


def test_a_tree_edited_by_hand_is_judged_by_message(record):
    first = record(body(user("Go")), "Gone.")
    later = append_message(
        conversation_id=first.conversation_id, message=drafts.user(" "), actor=CUSTOMER, now=NOW
    )

    composed = next_body_at(conversation_id=first.conversation_id, leaf_seq=later.seq)
    unasked = next_body(leaf_of(first))

    assert [(v.rule, v.place) for v in composed.violations] == [("text-not-blank", "message 3.content.0")]
    assert [(v.rule, v.place) for v in unasked.violations] == [("ends-with-user", "message 2")]


def test_an_edited_question_goes_on_from_there(record):
    first = record(body(user("Plan A?")), "Yes.")
    edited = edit_message(
        conversation_id=first.conversation_id, seq=1, message=drafts.user("Plan B?"), actor=CUSTOMER, now=NOW
    )

    composed = next_body_at(conversation_id=first.conversation_id, leaf_seq=edited.seq)

    assert json.loads(composed.body)["messages"] == [user(text("Plan B?"))]


def test_a_path_of_one_dialect_is_said_in_another(record):
    called = answer(
        {"type": "thinking", "thinking": "hm", "signature": "x"},
        "I look.",
        call("toolu_1", order=7),
        stop_reason="tool_use",
    )
    first = record(body(user("Where is 7?")), called)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}}
    history = [
        user("Where is 7?"),
        assistant(text("I look."), call("toolu_1", order=7)),
        user(result("toolu_1", [text("lost")]), image, text("See?")),
    ]
    second = record(body(*history), "Sorry.", after=first)

    chat = next_body_at(
        conversation_id=first.conversation_id,
        leaf_seq=second.answer_seq,
        dialect=Dialect.OPENAI_CHAT,
        model="gpt-b",
    )
    responses = next_body_at(
        conversation_id=first.conversation_id,
        leaf_seq=second.answer_seq,
        dialect=Dialect.OPENAI_RESPONSES,
        model="gpt-b",
    )

    url = "data:image/png;base64,QUJD"
    assert json.loads(chat.body) == {
        "model": "gpt-b",
        "messages": [
            {"role": "user", "content": [text("Where is 7?")]},
            {
                "role": "assistant",
                "content": [text("I look.")],
                "tool_calls": [
                    {
                        "id": "toolu_1",
                        "type": "function",
                        "function": {"name": "get_order", "arguments": '{"order":7}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "toolu_1", "content": "lost"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}, text("See?")]},
            {"role": "assistant", "content": [text("Sorry.")]},
        ],
    }
    assert [item.get("type", item.get("role")) for item in json.loads(responses.body)["input"]] == [
        "user",
        "assistant",
        "function_call",
        "function_call_output",
        "user",
        "assistant",
    ]
    assert chat.notes == ["message 2, block 0: thinking cannot be said in another dialect"]
    assert chat.violations == responses.violations == []


def test_openai_calls_become_objects_for_anthropic(record):
    asked = {"model": "gpt-b", "messages": [{"role": "user", "content": "Go"}]}
    told = {
        "id": "chatcmpl-1",
        "model": "gpt-b",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                        {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "not json"}},
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
    }
    first = record(json.dumps(asked).encode(), json.dumps(told).encode(), dialect=Dialect.OPENAI_CHAT)

    composed = next_body(leaf_of(first), Dialect.ANTHROPIC_MESSAGES, model="claude-sonnet-4-6")

    assert json.loads(composed.body)["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
        {"type": "tool_use", "id": "c2", "name": "f", "input": {"arguments": "not json"}},
    ]


# An amount that no float holds, a spelling of its own, and more digits than the interpreter reads.
NUMBERS = ("12345678901234567.89", "1.10", "1e2", "9" * 5000)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dialect", [Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES])
def test_numbers_in_a_call_are_said_in_another_dialect_as_they_were_spelt(record, dialect, number):
    called = answer(call("toolu_1", amount="NUMBER"), stop_reason="tool_use")
    called = called.replace(b'"NUMBER"', number.encode())
    first = record(body(user("Pay")), called)

    composed = next_body(leaf_of(first), dialect, model="gpt-b")

    assert f'{{\\"amount\\":{number}}}'.encode() in composed.body


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_in_a_call_become_those_of_an_object_as_they_were_spelt(record, number):
    asked = {"model": "gpt-b", "messages": [{"role": "user", "content": "Pay"}]}
    function = {"name": "pay", "arguments": f'{{"amount": {number}}}'}
    message = {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    told = {"id": "chatcmpl-2", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    first = record(json.dumps(asked).encode(), json.dumps(told).encode(), dialect=Dialect.OPENAI_CHAT)

    composed = next_body(leaf_of(first), Dialect.ANTHROPIC_MESSAGES, model="claude-sonnet-4-6")

    assert f'"input":{{"amount":{number}}}'.encode() in composed.body


def test_a_history_that_the_provider_holds_is_pointed_at(record):
    asked = {
        "model": "gpt-b",
        "previous_response_id": "resp_0",
        "input": [{"role": "user", "content": "And?"}],
    }
    output = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "So.", "annotations": []}],
    }
    told = {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-b", "output": [output]}
    first = record(json.dumps(asked).encode(), json.dumps(told).encode(), dialect=Dialect.OPENAI_RESPONSES)
    later = append_message(
        conversation_id=first.conversation_id, message=drafts.user("Then?"), actor=CUSTOMER, now=NOW
    )

    composed = next_body_at(conversation_id=first.conversation_id, leaf_seq=later.seq)

    assert json.loads(composed.body) == {
        "model": "gpt-b",
        "previous_response_id": "resp_1",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Then?"}]}],
    }


def test_without_an_attempt_the_model_must_be_named(conversation):
    appended = append_message(
        conversation_id=conversation.id, message=drafts.user("Hi"), actor=CUSTOMER, now=NOW
    )

    with pytest.raises(NotReplayableError, match="name the dialect and the model"):
        next_body_at(conversation_id=conversation.id, leaf_seq=appended.seq)


def test_bytes_that_are_gone_are_named(record):
    first = record(body(user("Hi")), "Hello.")
    MessagePart.objects.filter(seq=2).update(text=None, payload=None, shell=None, bytes_state="stripped")

    with pytest.raises(NotReplayableError, match="message 2: the bytes of message 2, block 0 are gone"):
        next_body(leaf_of(first))
