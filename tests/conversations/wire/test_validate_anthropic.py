"""The rules of Anthropic's API, each with its strength and its place."""

import pytest

from tests.conversations.wire.requests import broken, user


def text(words="x", **more):
    return {"type": "text", "text": words, **more}


def result(call_id="t1", content="ok", **more):
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def use(call_id="t1", **more):
    return {"type": "tool_use", "id": call_id, "name": "find", "input": {}} | more


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
SYSTEM = {"role": "system", "content": "be brief"}
DOCUMENT = {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}
SOUND = {
    "a plain dialogue": [user(), said(text("hello")), user()],
    "parallel calls answered together": [
        user(),
        said(use("a"), use("b")),
        user(result("b"), result("a"), text()),
    ],
    "thinking between calls": [
        user(),
        said(THOUGHT, use("a"), THOUGHT, use("b")),
        user(result("a"), result("b")),
    ],
    "a server's tool": [user(), said(SEARCH, FOUND, text("so")), user()],
    "a server's result in the answer after": [
        user(),
        said(SEARCH, use()),
        user(result()),
        said(FOUND, text("so")),
        user(),
    ],
    "a system message that follows a user's": [user(), SYSTEM, said(text("hello")), user()],
    "adjacent user messages": [user(), user(), said(text("hello")), user(text())],
}


@pytest.mark.parametrize("messages", SOUND.values(), ids=SOUND.keys())
def test_a_sound_request_breaks_no_rule(messages):
    assert broken(*messages) == []


BROKEN = {
    "a call that is passed over": (
        [user(), said(use()), user(text())],
        [("calls-answered-next", "refuse", "messages.1.content.0")],
    ),
    "a call left open at the end": (
        [user(), said(use())],
        [("calls-answered-next", "replay", "messages.1.content.0")],
    ),
    "one of two calls answered at the end": (
        [user(), said(use("a"), use("b")), user(result("b"))],
        [("calls-answered-next", "replay", "messages.1.content.0")],
    ),
    "a result without its call": (
        [user(result()), said(text("done")), user()],
        [("results-answer-previous", "refuse", "messages.0.content.0")],
    ),
    "a result that comes too late": (
        [user(), said(use()), user(result()), said(text("so")), user(result())],
        [("results-answer-previous", "refuse", "messages.4.content.0")],
    ),
    "text before a result": (
        [user(), said(THOUGHT, text("Checking"), use()), user(text("note"), result())],
        [("results-come-first", "refuse", "messages.2.content.0")],
    ),
    "results spread over two messages": (
        [user(), said(use("a"), use("b")), user(result("a")), user(result("b"))],
        [("results-in-one-message", "warn", "messages.3")],
    ),
    "two results for one call": (
        [user(), said(use()), user(result(), result())],
        [("one-result-per-call", "refuse", "messages.2.content.1")],
    ),
    "an id used again later": (
        [user(), said(use()), user(result()), said(use()), user(result())],
        [("call-ids-unique", "refuse", "messages.3.content.0")],
    ),
    "an id with a colon": (
        [user(), said(use("charge:1")), user(result("charge:1"))],
        [
            ("call-id-characters", "refuse", "messages.1.content.0"),
            ("call-id-characters", "refuse", "messages.2.content.0"),
        ],
    ),
    "an input that is no object": (
        [user(), said(use(input="x")), user(result())],
        [("input-is-object", "refuse", "messages.1.content.0")],
    ),
    "text behind a call": (
        [user(), said(use(), text("so")), user(result())],
        [("no-text-after-calls", "warn", "messages.1.content.1")],
    ),
    "a call by the user": (
        [user(use())],
        [("calls-by-assistant", "refuse", "messages.0.content.0")],
    ),
    "a result by the assistant": (
        [user(), said(use()), user(result()), said(result()), user()],
        [
            ("results-answer-previous", "refuse", "messages.3.content.0"),
            ("results-on-their-side", "refuse", "messages.3.content.0"),
        ],
    ),
    "blank text": (
        [user(text(" \n\t ")), said(text("")), user()],
        [
            ("text-not-blank", "warn", "messages.0.content.0"),
            ("text-not-blank", "warn", "messages.1.content.0"),
        ],
    ),
    "an empty message": (
        [{"role": "user", "content": []}, said(text("hello")), user()],
        [("content-not-empty", "warn", "messages.0")],
    ),
    "a prefill with a space behind it": (
        [user(), said(text("So "))],
        [
            ("ends-with-user", "replay", "messages.1"),
            ("no-trailing-space", "replay", "messages.1.content.0"),
        ],
    ),
    "an empty error": (
        [user(), said(use()), user(result(content="", is_error=True))],
        [("error-needs-content", "refuse", "messages.2.content.0")],
    ),
    "thinking behind text": (
        [user(), said(text("a"), THOUGHT, text("b")), user()],
        [("thinking-first", "warn", "messages.1.content.1")],
    ),
    "a server's result without its call": (
        [user(), said(FOUND, text("so")), user()],
        [("server-result-follows-call", "refuse", "messages.1.content.0")],
    ),
    "a server's call left unresolved": (
        [user(), said(SEARCH, text("so")), user()],
        [("server-call-resolved", "warn", "messages.1.content.0")],
    ),
    "a client's result for a server's call": (
        [user(), said(SEARCH, FOUND, text("so")), user(result("srvtoolu_1"))],
        [("result-of-server-call", "refuse", "messages.2.content.0")],
    ),
    "a tool's name with a dot": (
        [user(), said(use(name="a.b")), user(result())],
        [("tool-name", "warn", "messages.1.content.0")],
    ),
    "a system message behind the assistant's": (
        [user(), said(text("hello")), SYSTEM],
        [("system-placement", "warn", "messages.2")],
    ),
    "a document by the assistant": (
        [user(), said(DOCUMENT), user()],
        [("document-by-user", "warn", "messages.1.content.0")],
    ),
    "two compactions": (
        [
            user(),
            said({"type": "compaction", "content": "a"}),
            user(),
            said({"type": "compaction", "content": "b"}),
            user(),
        ],
        [("compaction-placement", "warn", "messages.3.content.0")],
    ),
}


@pytest.mark.parametrize(("messages", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_is_named_with_its_strength_and_place(messages, expected):
    assert sorted(broken(*messages)) == sorted(expected)


def test_thinking_on_wants_the_tool_loop_to_begin_with_it():
    loop = [user(), said(use()), user(result())]

    assert broken(*loop, thinking={"type": "enabled", "budget_tokens": 1024}) == [
        ("tool-loop-thinking", "warn", "messages.1")
    ]
    assert broken(*loop, thinking={"type": "adaptive"}) == []


def test_thinking_off_wants_none_in_the_last_answer():
    assert broken(user(), said(THOUGHT, text("so")), user(), thinking={"type": "disabled"}) == [
        ("thinking-allowed", "warn", "messages.1.content.0")
    ]


def test_a_pending_server_call_needs_its_tool():
    pending = [user(), said(SEARCH)]

    assert broken(*pending, tools=[]) == [("pending-tool-declared", "warn", "messages.1.content.0")]
    assert broken(*pending, tools=[{"type": "web_search_20250305", "name": "web_search"}]) == []
