"""One small, sound export of each format, to be damaged."""

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Seed:
    """A file's name and its text; what is on lines is damaged line by line too."""

    name: str
    text: str


def _lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


_CALL = {"id": "call_1", "type": "function", "function": {"name": "refund", "arguments": '{"order": 1}'}}
_DIALOGUE = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Refund 1"},
    {"role": "assistant", "content": None, "tool_calls": [_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "done"},
    {"role": "assistant", "content": "Refunded."},
]


def _chatgpt(key: str) -> dict[str, object]:
    def node(role: str, parent: str | None, content: object, recipient: str = "all") -> dict[str, object]:
        message = {
            "author": {"role": role, "name": None},
            "create_time": 1.7e9,
            "content": content,
            "recipient": recipient,
            "metadata": {"model_slug": "gpt-4"},
        }
        return {"parent": parent, "children": [], "message": message}

    def text(words: str) -> dict[str, object]:
        return {"content_type": "text", "parts": [words]}

    mapping: dict[str, object] = {
        "root": {"parent": None, "children": ["u"], "message": None},
        "u": node("user", "root", text("hi")),
        "c": node("assistant", "u", {"content_type": "code", "text": "search()"}, "browser"),
        "r": node("tool", "c", {"content_type": "execution_output", "text": "found"}),
        "a": node("assistant", "r", text("hello")),
        "b": node("assistant", "r", {"content_type": "thoughts", "thoughts": [{"content": "x"}]}),
    }
    return {
        "conversation_id": key,
        "title": key,
        "create_time": 1.7e9,
        "mapping": mapping,
        "current_node": "a",
    }


def _claude_ai(key: str) -> dict[str, object]:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": 1.50}},
        {"type": "tool_result", "tool_use_id": "t1", "content": "none", "is_error": True},
        {"type": "text", "text": "No.", "citations": []},
    ]
    messages = [
        {"uuid": f"{key}-u", "sender": "human", "text": "?", "content": [{"type": "text", "text": "?"}]},
        {"uuid": f"{key}-a", "sender": "assistant", "content": blocks, "created_at": "2025-01-01T00:00:00Z"},
    ]
    return {"uuid": key, "name": "N", "account": {"uuid": "acc"}, "chat_messages": messages}


def _open_webui(key: str) -> dict[str, object]:
    items = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "message", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    messages = {
        "q": {"id": "q", "parentId": None, "childrenIds": ["a"], "role": "user", "content": "?"},
        "a": {"id": "a", "parentId": "q", "childrenIds": [], "role": "assistant", "output": items},
    }
    chat = {"models": ["m"], "history": {"currentId": "a", "messages": messages}}
    return {"id": key, "user_id": "u", "title": "T", "chat": chat, "created_at": 1700000000}


def _librechat() -> dict[str, object]:
    tool = {"type": "tool_call", "tool_call": {"id": "c", "name": "roll", "args": "{}", "output": "6"}}
    answer = {"messageId": "a", "isCreatedByUser": False, "content": [tool, {"type": "text", "text": "6"}]}
    question = {"messageId": "q", "isCreatedByUser": True, "text": "?", "children": [answer]}
    return {"conversationId": "l", "title": "T", "endpoint": "x", "recursive": True, "messages": [question]}


def _claude_code() -> str:
    def record(
        kind: str, uuid: str, parent: str | None, content: object, **more: object
    ) -> dict[str, object]:
        message = {"role": kind, "content": content, **({"id": "msg_1"} if kind == "assistant" else {})}
        return {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": "s",
            "message": message,
            **more,
        }

    call = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]}
    return _lines(
        {"type": "summary", "summary": "S", "leafUuid": "r"},
        record("user", "u", None, "go", timestamp="2025-09-03T00:00:00Z"),
        record("assistant", "a1", "u", [{"type": "text", "text": "x"}]),
        record("assistant", "a2", "a1", [call]),
        record("user", "x", None, "look", isSidechain=True),
        record("user", "r", "a2", [result]),
    )


def _tree() -> dict[str, object]:
    parts = [{"type": "text", "text": "hi"}]
    call = {"type": "tool_use", "call_id": "c", "tool": "f", "payload": "{}"}
    answer = {"type": "tool_result", "call_id": "c", "payload": "{}", "status": "ok"}
    messages = [
        {"seq": 1, "role": "user", "parts": parts},
        {
            "seq": 2,
            "parent": 1,
            "role": "assistant",
            "parts": [call],
            "calls": {"c": {"status": "succeeded"}},
        },
        {"seq": 3, "parent": 2, "role": "user", "parts": [answer], "branch_reason": "continue"},
    ]
    move = {"head": 3, "at": "2026-01-01T00:00:00+00:00", "by": "importer", "reason": "import"}
    return {"counterfoil_tree": 1, "id": "t", "head": 3, "messages": messages, "head_moves": [move]}


def _simulation() -> dict[str, object]:
    call = {"id": "c", "name": "f", "arguments": {"x": 1.0}, "requestor": "user"}
    messages = [
        {"role": "assistant", "content": "Hi", "turn_idx": 0, "timestamp": "2025-08-01T16:23:24.9"},
        {"role": "user", "content": None, "tool_calls": [call], "turn_idx": 1},
        {"role": "tool", "id": "c", "content": "no", "error": True, "turn_idx": 2},
    ]
    return {"id": "sim", "task_id": "1", "start_time": "2025-08-01T16:23:24", "messages": messages}


def _reply(key: str, role: str, *replies: object) -> dict[str, object]:
    return {"message_id": key, "role": role, "text": key, "replies": list(replies), "rank": 0}


def _oasst(key: str) -> dict[str, object]:
    return {"message_tree_id": key, "prompt": _reply("p", "prompter", _reply("a", "assistant"))}


def _row(sender: str, body: str) -> dict[str, object]:
    return {"chat_id": 1, "sender": sender, "body": body}


_TABLE = """chat,role,text,time
x,user,"a, b",2024-01-01
y,bot,"two
lines",
x,assistant,c,1700000000
"""


def _traffic() -> dict[str, object]:
    message = {"role": "assistant", "content": "ok", "tool_calls": [_CALL]}
    answer = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    return {
        "path": "/v1/chat/completions",
        "request_body": json.dumps({"model": "m", "messages": _DIALOGUE}),
        "response_body": json.dumps(answer),
        "response_status": 200,
    }


SEEDS = (
    Seed("chatgpt.json", json.dumps([_chatgpt("one"), _chatgpt("two")])),
    Seed("claude.json", json.dumps([_claude_ai("one"), _claude_ai("two")], indent=1)),
    Seed("webui.json", json.dumps([_open_webui("one"), _open_webui("two")])),
    Seed("librechat.json", json.dumps(_librechat(), indent=2)),
    Seed("session.jsonl", _claude_code()),
    Seed("trees.jsonl", _lines(*(_oasst(key) for key in "xy"))),
    Seed("train.jsonl", _lines({"messages": _DIALOGUE, "tools": []}, {"messages": _DIALOGUE[1:]})),
    Seed("plain.jsonl", _lines(_DIALOGUE, _DIALOGUE[1:])),
    Seed("tau.jsonl", _lines({"task_id": 1, "trial": 0, "traj": _DIALOGUE})),
    Seed("tau2.jsonl", _lines(_simulation())),
    Seed("table.csv", _TABLE),
    Seed("table.jsonl", _lines(_row("user", "a"), _row("ai", "b"))),
    Seed("counterfoil.jsonl", _lines(_tree(), {**_tree(), "id": "t2"})),
    Seed("traffic.jsonl", _lines(_traffic())),
)  # fmt: skip
