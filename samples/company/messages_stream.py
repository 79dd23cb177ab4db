"""A Messages API answer as the event stream that carries it."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

_PIECE = 48


def event_stream(message: Mapping[str, object], *, error: tuple[str, str] | None = None) -> bytes:
    """The stream of a whole message; with `error`, it ends in an error event instead of a stop."""
    return b"".join(_events(message, error))


def _events(message: Mapping[str, object], error: tuple[str, str] | None) -> Iterator[bytes]:
    usage = cast("dict[str, object]", message["usage"])
    begun = {
        **message,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield _event("message_start", {"message": begun})
    yield _event("ping", {})
    for index, block in enumerate(cast("list[dict[str, object]]", message["content"])):
        yield from _block(index, block)
    if error is not None:
        yield _event("error", {"error": {"type": error[0], "message": error[1]}})
        return
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield _event("message_delta", {"delta": ending, "usage": {"output_tokens": usage["output_tokens"]}})
    yield _event("message_stop", {})


def _block(index: int, block: Mapping[str, object]) -> Iterator[bytes]:
    deltas: list[dict[str, object]] = []
    start = dict(block)
    match block["type"]:
        case "text":
            start["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case "thinking":
            start.update(thinking="", signature="")
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use" | "server_tool_use":
            start["input"] = {}
            arguments = json.dumps(block["input"], ensure_ascii=False)
            deltas = [
                {"type": "input_json_delta", "partial_json": piece} for piece in ("", *_pieces(arguments))
            ]
        case _:
            pass  # results of the provider's own tools, and what we do not know, arrive whole
    yield _event("content_block_start", {"index": index, "content_block": start})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _pieces(value: object) -> Iterator[str]:
    words = str(value)
    return (words[at : at + _PIECE] for at in range(0, len(words), _PIECE))


def _event(name: str, data: Mapping[str, object]) -> bytes:
    line = json.dumps({"type": name, **data}, separators=(",", ":"), ensure_ascii=False)
    return f"event: {name}\ndata: {line}\n\n".encode()
