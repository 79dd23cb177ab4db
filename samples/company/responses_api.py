"""A client of OpenAI's Responses API and the provider it talks to, as bytes on the wire."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conversations.vocabulary import Dialect
from samples.company.client_json import JsonWriter, compact, spaced
from samples.company.story import Clock, Exchange, estimated_tokens
from samples.company.talk import Item, Talk

type Event = tuple[str, dict[str, object]]

_PIECE = 40


def output(call: Item, content: str) -> Item:
    return {"type": "function_call_output", "call_id": call["call_id"], "output": content}


class ResponsesTalk(Talk):
    """Sends either the whole history, or (`is_hosted`) what is new and the id of the last response."""

    provider = "openai"
    dialect = Dialect.OPENAI_RESPONSES
    request_ids = ("req_", 32)

    def __init__(
        self,
        *,
        key: str,
        clock: Clock,
        model: str,
        instructions: str,
        tools: Sequence[Mapping[str, object]] = (),
        write: JsonWriter = compact,
        is_stream: bool = False,
        is_hosted: bool = False,
    ) -> None:
        super().__init__(
            key=key,
            clock=clock,
            model=model,
            tools=[{"type": "function", **tool} for tool in tools],
            write=write,
            is_stream=is_stream,
        )
        self.last_response_id = ""
        self._fresh = 0
        self._instructions = instructions
        self._is_hosted = is_hosted

    def give(self, *outputs: Item, after: float = 1.0) -> None:
        self.clock.wait(after)
        self.history.extend(outputs)
        self._next_action()

    def go_back(self, messages: int, *, response_id: str = "") -> None:
        """Cut the history to its first items; a hosted one goes on from `response_id`."""
        super().go_back(messages)
        self._fresh = messages
        self.last_response_id = response_id

    def words(self, words: str) -> Item:
        content = {"type": "output_text", "text": words, "annotations": []}
        head = {"id": self.mint("msg_", 48), "type": "message", "status": "completed"}
        return {**head, "role": "assistant", "content": [content]}

    def reasoning(self, summary: str) -> Item:
        parts = [{"type": "summary_text", "text": summary}]
        return {"id": self.mint("rs_", 48), "type": "reasoning", "summary": parts}

    def call(self, name: str, /, **arguments: object) -> Item:
        return {
            "id": self.mint("fc_", 48),
            "type": "function_call",
            "status": "completed",
            "call_id": self.mint("call_", 24),
            "name": name,
            "arguments": json.dumps(arguments, separators=(",", ":"), ensure_ascii=False),
        }

    def answer(self, *items: Item, take: float = 2.8, status: str = "completed", why: str = "") -> Exchange:
        response = self._response(list(items), status, why)
        body = b"".join(_events(response)) if self._is_stream else compact(response)
        exchange = self._exchange(body, status=200, take=take)
        self.history.extend(items)
        self._fresh = len(self.history)
        self.last_response_id = str(response["id"])
        return exchange

    def fail(
        self, status: int, kind: str, words: str, *, code: str | None = None, take: float = 0.6
    ) -> Exchange:
        error = {"message": words, "type": kind, "param": None, "code": code}
        return self._exchange(compact({"error": error}), status=status, take=take)

    def request_body(self) -> bytes:
        is_short = self._is_hosted and self.last_response_id
        body: dict[str, object] = {"input": self.history[self._fresh :] if is_short else self.history}
        body |= {"instructions": self._instructions, "model": self.model}
        if is_short:
            body["previous_response_id"] = self.last_response_id
        if not self._is_hosted:
            body["store"] = False
        if self._is_stream:
            body["stream"] = True
        if self._tools:
            body["tools"] = self._tools
        return self._write(body)

    def _response(self, items: list[Item], status: str, why: str) -> dict[str, object]:
        prompt = estimated_tokens(spaced(self.history)) + estimated_tokens(self._instructions)
        reasoning = sum(estimated_tokens(spaced(item)) for item in items if item["type"] == "reasoning")
        produced = estimated_tokens(spaced(items)) + reasoning * 3
        return {
            "id": self.mint("resp_", 48),
            "object": "response",
            "created_at": int(self.clock.now.timestamp()),
            "status": status,
            "error": None,
            "incomplete_details": {"reason": why} if why else None,
            "model": self.model,
            "output": items,
            "previous_response_id": self.last_response_id or None,
            "service_tier": "default",
            "usage": {
                "input_tokens": prompt,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": produced,
                "output_tokens_details": {"reasoning_tokens": reasoning * 3},
                "total_tokens": prompt + produced,
            },
        }


def _events(response: Mapping[str, object]) -> Iterator[bytes]:
    """The response as its event stream; every event carries its number."""
    for number, (kind, data) in enumerate(_numbered(response)):
        line = json.dumps(
            {"type": kind, **data, "sequence_number": number}, separators=(",", ":"), ensure_ascii=False
        )
        yield f"event: {kind}\ndata: {line}\n\n".encode()


def _numbered(response: Mapping[str, object]) -> Iterator[Event]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    items = response["output"]
    for index, item in enumerate(items if isinstance(items, list) else []):
        yield from _item_events(index, item)
        yield "response.output_item.done", {"output_index": index, "item": item}
    is_whole = response["status"] == "completed"
    yield "response.completed" if is_whole else "response.incomplete", {"response": response}


def _item_events(index: int, item: dict[str, Any]) -> Iterator[Event]:
    """An item as it grows; what does not grow arrives whole."""
    place: dict[str, object] = {"output_index": index}
    empty = {**item, "status": "in_progress"} if "status" in item else dict(item)
    if item["type"] == "message":
        yield "response.output_item.added", {**place, "item": {**empty, "content": []}}
        place |= {"item_id": item["id"], "content_index": 0}
        part = item["content"][0]
        yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
        for piece in _pieces(part["text"]):
            yield "response.output_text.delta", {**place, "delta": piece}
        yield "response.output_text.done", {**place, "text": part["text"]}
        yield "response.content_part.done", {**place, "part": part}
    elif item["type"] == "function_call":
        yield "response.output_item.added", {**place, "item": {**empty, "arguments": ""}}
        place |= {"item_id": item["id"]}
        for piece in _pieces(item["arguments"]):
            yield "response.function_call_arguments.delta", {**place, "delta": piece}
        yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
    else:
        yield "response.output_item.added", {**place, "item": empty}


def _pieces(words: str) -> Iterator[str]:
    return (words[at : at + _PIECE] for at in range(0, len(words), _PIECE))
