"""The rules that providers hold requests to, by dialect."""

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import PartType, Role
from conversations.wire.dialects import module_for
from conversations.wire.validate import declared_tools, find_request_violations, find_violations
from tests.conversations.wire.bodies import compact
from tests.conversations.wire.requests import A, C, R, broken, user


def test_half_a_surrogate_pair_is_refused_and_a_whole_one_is_not():
    body = (
        b'{"messages":[{"role":"user","content":[{"type":"text","text":"half \\ud83d"},'
        b'{"type":"x","y":"\\ud83d\\ude00"}]}]}'
    )

    (found,) = find_request_violations(module_for(A).parse_request(body))

    assert (found.rule, found.strength, found.place) == ("valid-unicode", "refuse", "messages.0.content.0")


def call(call_id="c1"):
    return {"id": call_id, "type": "function", "function": {"name": "find", "arguments": "{}"}}


def asks(*calls):
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answers(call_id="c1", content="ok"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_chat_takes_results_one_by_one_in_any_order_and_short_ids_again():
    first = [asks(call("0"), call("1")), answers("1"), answers("0")]
    second = [asks(call("0")), answers("0")]

    assert broken(user(), *first, *second, dialect=C) == []


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([user(), asks(call()), user()], [("calls-answered-next", "refuse", "messages.1.content.0")]),
        ([user(), answers()], [("results-answer-previous", "refuse", "messages.1.content.0")]),
        (
            [user(), asks(call()), user(), answers()],
            [("results-come-first", "refuse", "messages.2.content.0")],
        ),
        ([user(), asks(call(), call()), answers()], [("call-ids-unique", "refuse", "messages.1.content.1")]),
        (
            [user(), asks({**call(), "id": ""}), user()],
            [
                ("call-has-id", "refuse", "messages.1.content.0"),
                ("calls-answered-next", "refuse", "messages.1.content.0"),
            ],
        ),
        (
            [user(), asks(call()), answers(content=[{"type": "image_url", "image_url": {"url": "x"}}])],
            [("results-are-text", "warn", "messages.2.content.0")],
        ),
    ],
)
def test_chats_rules(messages, expected):
    assert sorted(broken(*messages, dialect=C)) == expected


REASONING = {"type": "reasoning", "id": "rs", "summary": []}
FUNCTION = {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}


@pytest.mark.parametrize(
    ("items", "members", "expected"),
    [
        ([user(), REASONING, FUNCTION, OUTPUT], {}, []),
        ([user(), FUNCTION, user()], {}, [("calls-answered-next", "refuse", "messages.1.content.0")]),
        ([OUTPUT, user()], {}, [("results-answer-previous", "refuse", "messages.0.content.0")]),
        ([OUTPUT, user()], {"previous_response_id": "resp_1"}, []),
        ([user(), REASONING, user()], {}, [("reasoning-followed", "warn", "messages.1.content.0")]),
        (
            [user()],
            {"previous_response_id": "resp_1", "conversation": "conv_1"},
            [("one-hosted-history", "refuse", "previous_response_id")],
        ),
    ],
)
def test_responses_rules(items, members, expected):
    assert broken(*items, dialect=R, **members) == expected


def test_the_caller_names_the_messages():
    stray = MessageDraft(Role.USER, [PartDraft(PartType.TOOL_RESULT, payload=b"{}", tool_call_id="gone")])

    (found,) = find_violations([stray], dialect=A, names=["message 7"])

    assert found.place == "message 7.content.0"
    assert found.explanation == "the result gone answers no call of the message before it"


def test_the_declared_tools_are_known_in_every_dialect():
    tools = [
        {"name": "a", "input_schema": {}},
        {"type": "function", "function": {"name": "b"}},
        {"type": "function", "name": "c"},
        {"type": "web_search"},
    ]

    assert declared_tools(compact(tools)) == {"a", "b", "c", "web_search"}
    assert declared_tools(b"{oops") == declared_tools(None) == frozenset()
