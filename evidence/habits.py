"""Ten ways in which clients send back something else than what they got.

Each takes the conversation as it happened, in Anthropic's form, and gives the
list of messages that such a client sends. None of them changes what was said.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Sequence

type Block = dict[str, object]
type Message = dict[str, object]
type Habit = Callable[[Sequence[Message]], list[Message]]

CLEARED = "[Old tool result content cleared]"
WINDOW = 24


def marks_that_move(history: Sequence[Message]) -> list[Message]:
    """Cache marks on the last two user messages, so they stand elsewhere in each request."""
    sent = copy.deepcopy(list(history))
    for message in [m for m in sent if m["role"] == "user"][-2:]:
        _blocks(message)[-1]["cache_control"] = {"type": "ephemeral"}
    return sent


def strings_for_old_texts(history: Sequence[Message]) -> list[Message]:
    """A message of one text is a list of one block while it is new, a bare string later."""
    sent = copy.deepcopy(list(history))
    for message in sent[:-2]:
        blocks = _blocks(message)
        if len(blocks) == 1 and blocks[0]["type"] == "text":
            message["content"] = blocks[0]["text"]
    return sent


def thinking_dropped(history: Sequence[Message]) -> list[Message]:
    """Thinking goes back only from the last answer."""
    return [
        message if message["role"] == "user" or number >= len(history) - 2 else _without(message, "thinking")
        for number, message in enumerate(history)
    ]


def keys_in_model_order(history: Sequence[Message]) -> list[Message]:
    """Answers dumped from a typed model: fields sorted, absent ones as null."""
    sent = copy.deepcopy(list(history))
    for message in sent:
        if message["role"] == "assistant":
            message["content"] = [_dumped(block) for block in _blocks(message)]
    return sent


def arguments_written_anew(history: Sequence[Message]) -> list[Message]:
    """Arguments parsed into a map without an order of its own, and numbers into one type."""
    sent = copy.deepcopy(list(history))
    for message in sent:
        for block in _blocks(message):
            if block["type"] == "tool_use":
                block["input"] = _rewritten(block["input"])
    return sent


def text_beside_calls_dropped(history: Sequence[Message]) -> list[Message]:
    """A framework that keeps either the text or the calls of an answer."""
    return [
        _without(message, "text")
        if any(block["type"] == "tool_use" for block in _blocks(message))
        else message
        for message in history
    ]


def blank_text_inserted(history: Sequence[Message]) -> list[Message]:
    """A blank text in front of calls, and behind results."""
    sent = copy.deepcopy(list(history))
    for message in sent:
        kinds = {block["type"] for block in _blocks(message)}
        if "tool_use" in kinds:
            message["content"] = [{"type": "text", "text": " "}, *_blocks(message)]
        elif "tool_result" in kinds:
            message["content"] = [*_blocks(message), {"type": "text", "text": "\n"}]
    return sent


def old_results_cleared(history: Sequence[Message]) -> list[Message]:
    """Results older than the last three exchanges give way to a note."""
    sent = copy.deepcopy(list(history))
    for message in sent[:-6]:
        for block in _blocks(message):
            if block["type"] == "tool_result":
                block["content"] = CLEARED
    return sent


def sliding_window(history: Sequence[Message]) -> list[Message]:
    """The last messages only, from one that the customer wrote."""
    start = max(0, len(history) - WINDOW)
    while not _opens_a_turn(history[start]):
        start += 1
        if start == len(history):
            # The window holds no question: go back to the one before it.
            start = max(n for n in range(len(history) - WINDOW) if _opens_a_turn(history[n]))
            break
    return list(history[start:])


def messages_split_and_merged(history: Sequence[Message]) -> list[Message]:
    """Answers are split into a message a block; a customer's word beside results is split off."""
    sent: list[Message] = []
    for number, message in enumerate(history):
        blocks = _blocks(message)
        if len(blocks) > 1 and (message["role"] == "assistant" or number % 2):
            sent += [{"role": message["role"], "content": [block]} for block in blocks]
        else:
            sent.append(message)
    return sent


HABITS: dict[str, Habit] = {
    "cache marks that move": marks_that_move,
    "string or list": strings_for_old_texts,
    "thinking dropped": thinking_dropped,
    "keys in the SDK's order": keys_in_model_order,
    "arguments re-serialised": arguments_written_anew,
    "text beside a call dropped": text_beside_calls_dropped,
    "blank text inserted": blank_text_inserted,
    "old results cleared": old_results_cleared,
    "sliding window": sliding_window,
    "messages merged or split": messages_split_and_merged,
}


def _blocks(message: Message) -> list[Block]:
    content = message["content"]
    assert isinstance(content, list)
    return content


def _without(message: Message, kind: str) -> Message:
    kept = [block for block in _blocks(message) if block["type"] != kind]
    return {**message, "content": kept or _blocks(message)}


def _dumped(block: Block) -> Block:
    if block["type"] == "text":
        return {"citations": None, "text": block["text"], "type": "text"}
    if block["type"] == "tool_use":
        return {
            "id": block["id"],
            "caller": None,
            "input": block["input"],
            "name": block["name"],
            "type": "tool_use",
        }
    return dict(sorted(block.items()))


def _rewritten(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _rewritten(value[key])
            for key in sorted(
                value, key=lambda key: hashlib.md5(key.encode(), usedforsecurity=False).digest()
            )
        }
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _opens_a_turn(message: Message) -> bool:
    return message["role"] == "user" and all(block["type"] == "text" for block in _blocks(message))


def write_body(body: dict[str, object], *, is_spaced: bool) -> bytes:
    """JSON as the two generations of SDKs write it."""
    if is_spaced:
        return json.dumps(body).encode()
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
