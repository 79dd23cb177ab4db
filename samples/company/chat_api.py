"""A client of OpenAI's Chat Completions API and the provider it talks to, as bytes on the wire."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conversations.vocabulary import Dialect
from samples.company.client_json import JsonWriter, compact, spaced
from samples.company.story import Clock, Exchange, estimated_tokens
from samples.company.talk import Talk

_PIECE = 40


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A call as the model wrote it: the arguments are a string, and need not be JSON."""

    id: str
    name: str
    arguments: str

    def wire(self) -> dict[str, object]:
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


class ChatTalk(Talk):
    """Sends the whole history each time; a system message is its first."""

    provider = "openai"
    dialect = Dialect.OPENAI_CHAT
    request_ids = ("req_", 32)

    def __init__(
        self,
        *,
        key: str,
        clock: Clock,
        model: str,
        system: str,
        tools: Sequence[Mapping[str, object]] = (),
        write: JsonWriter = compact,
        is_stream: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(
            key=key,
            clock=clock,
            model=model,
            tools=[{"type": "function", "function": dict(tool)} for tool in tools],
            write=write,
            is_stream=is_stream,
        )
        self._settings = dict(settings or {})
        if system:
            self.history.append({"role": "system", "content": system})

    def give(self, call: ChatCall, content: str, *, after: float = 1.0) -> None:
        """One result; a turn's results each stand in a message of their own."""
        self.clock.wait(after)
        self.history.append({"role": "tool", "tool_call_id": call.id, "content": content})
        self._next_action()

    def call(self, name: str, /, **arguments: object) -> ChatCall:
        return ChatCall(self.mint("call_", 24), name, json.dumps(arguments, ensure_ascii=False))

    def answer(
        self, words: str = "", *calls: ChatCall, take: float = 2.4, stop: str = "", refusal: str = ""
    ) -> Exchange:
        message: dict[str, object] = {"role": "assistant", "content": words or None}
        if refusal:
            message["refusal"] = refusal
        if calls:
            message["tool_calls"] = [call.wire() for call in calls]
        stop = stop or ("tool_calls" if calls else "stop")
        exchange = self._exchange(self._response(message, stop), status=200, take=take)
        self.history.append(message)
        return exchange

    def cut_off(self, words: str, *calls: ChatCall, at_share: float, take: float = 4.0) -> Exchange:
        message: dict[str, object] = {"role": "assistant", "content": words or None}
        if calls:
            message["tool_calls"] = [call.wire() for call in calls]
        body = self._response(message, "tool_calls" if calls else "stop")
        return self._exchange(body[: int(len(body) * at_share)], status=200, take=take)

    def fail(
        self, status: int, kind: str, words: str, *, code: str | None = None, take: float = 0.6
    ) -> Exchange:
        error = {"message": words, "type": kind, "param": None, "code": code}
        return self._exchange(compact({"error": error}), status=status, take=take)

    def request_body(self) -> bytes:
        body: dict[str, object] = {"messages": self.history, "model": self.model, **self._settings}
        if self._is_stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        if self._tools:
            body["tools"] = self._tools
        return self._write(body)

    def _usage(self, message: Mapping[str, object]) -> dict[str, object]:
        prompt = estimated_tokens(spaced(self.history)) + estimated_tokens(spaced(self._tools))
        completion = estimated_tokens(spaced(message))
        # This provider caches the prefix in steps of 128 tokens, from 1,024 on.
        cached = prompt // 128 * 128 if prompt >= 1024 and self.exchanges else 0
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }

    def _response(self, message: dict[str, object], stop: str) -> bytes:
        head = {
            "id": self.mint("chatcmpl-", 29),
            "created": int(self.clock.now.timestamp()),
            "model": self.model,
        }
        if self._is_stream:
            return b"".join(_chunks(head, message, stop, self._usage(message)))
        choice = {"index": 0, "message": {**message, "refusal": None, **message}, "finish_reason": stop}
        body = {**head, "object": "chat.completion", "choices": [choice], "usage": self._usage(message)}
        return compact({**body, "service_tier": "default"})


def _chunks(
    head: Mapping[str, object], message: Mapping[str, object], stop: str, usage: Mapping[str, object]
) -> Iterator[bytes]:
    def chunk(delta: Mapping[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _line({**head, "object": "chat.completion.chunk", "choices": [choice], "usage": None})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(str(message["content"] or "")):
        yield chunk({"content": piece})
    calls = message.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else []):
        function = call["function"]
        opening = {"index": index, "id": call["id"], "type": "function"}
        yield chunk({"tool_calls": [{**opening, "function": {"name": function["name"], "arguments": ""}}]})
        for piece in _pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, stop)
    yield _line({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _pieces(words: str) -> Iterator[str]:
    return (words[at : at + _PIECE] for at in range(0, len(words), _PIECE))


def _line(data: object) -> bytes:
    return b"data: " + json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"
