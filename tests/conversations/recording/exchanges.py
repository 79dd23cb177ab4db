"""Provider calls as short as a test needs them, in Anthropic's dialect unless said otherwise."""

import json
from itertools import count

from conversations.models import Message, MessagePart
from conversations.replay import request_body_of

_ids = count(1)


def body(*messages, is_spaced=False, **members) -> bytes:
    value = {"model": "claude-sonnet-4-6", "max_tokens": 512, "messages": list(messages), **members}
    if is_spaced:
        return json.dumps(value).encode()
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def user(*content) -> dict:
    return {"role": "user", "content": content[0] if _is_string(content) else list(content)}


def assistant(*content) -> dict:
    return {"role": "assistant", "content": content[0] if _is_string(content) else list(content)}


def _is_string(content) -> bool:
    return len(content) == 1 and isinstance(content[0], str)


def text(words, **members) -> dict:
    return {"type": "text", "text": words, **members}


def call(call_id, name="get_order", **arguments) -> dict:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id, content="ok", **members) -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}


def answer(*content, stop_reason="end_turn", **members) -> bytes:
    """A provider's JSON answer; a string is one text block. Each has an id of its own."""
    blocks = [text(block) if isinstance(block, str) else block for block in content]
    value = {
        "id": f"msg_{next(_ids):04}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
        **members,
    }
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def refusal(message="messages.0: all messages must have non-empty content") -> bytes:
    return json.dumps(
        {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    ).encode()


def stream(*events) -> bytes:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()


def tree(conversation_id) -> list[tuple]:
    """Each message as (seq, parent, role, why it hangs there, its texts)."""
    texts: dict[int, list[str]] = {}
    for part in MessagePart.objects.filter(conversation_id=conversation_id).order_by("seq", "ordinal"):
        texts.setdefault(part.seq, []).append(part.text or part.tool_call_id or part.type)
    return [
        (m.seq, m.parent_seq, m.role, m.branch_reason, texts.get(m.seq, []))
        for m in Message.objects.filter(conversation_id=conversation_id).order_by("seq")
    ]


def given_back(exchange, number=1) -> bytes:
    """The body of the attempt's request, as the store gives it back."""
    return request_body_of(conversation_id=exchange.conversation_id, number=number)
