"""Events of Anthropic's streams, as short as a test needs them."""

from tests.conversations.wire.bodies import said


def start(index=0, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index=0, **what):
    return {"type": "content_block_delta", "index": index, "delta": what}


def stop(index=0):
    return {"type": "content_block_stop", "index": index}


def begin(message_id="msg_1", **usage):
    usage = {"input_tokens": 25, "output_tokens": 1} | usage
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-a",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return {"type": "message_start", "message": message}


def end(reason="end_turn", **usage):
    usage = {"output_tokens": 8} | usage
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


STOP = {"type": "message_stop"}
TEXT = [
    start(type="text", text=""),
    delta(type="text_delta", text="Hel"),
    delta(type="text_delta", text="lo"),
    stop(),
]


def text_of(answer):
    return [part.text for part in said(answer).parts]
