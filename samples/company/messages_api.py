"""A client of Anthropic's Messages API and the provider it talks to, as bytes on the wire."""

from collections.abc import Mapping, Sequence
from copy import deepcopy

from conversations.vocabulary import Dialect
from samples.company.client_json import JsonWriter, compact, spaced
from samples.company.messages_stream import event_stream
from samples.company.story import Clock, Exchange, estimated_tokens
from samples.company.talk import Item, Talk

type Block = Item


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def result(call: Block, content: str | list[Block], *, is_error: bool = False) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": call["id"], "content": content}
    if is_error:
        block["is_error"] = True
    return block


class MessagesTalk(Talk):
    """Sends the whole history each time."""

    provider = "anthropic"
    dialect = Dialect.ANTHROPIC_MESSAGES
    request_ids = ("req_011C", 20)

    def __init__(
        self,
        *,
        key: str,
        clock: Clock,
        model: str,
        system: str,
        tools: Sequence[Mapping[str, object]] = (),
        write: JsonWriter = compact,
        is_stream: bool = True,
        settings: Mapping[str, object] | None = None,
        betas: tuple[str, ...] = (),
        api_version: str = "2026-10-21",
    ) -> None:
        super().__init__(
            key=key,
            clock=clock,
            model=model,
            tools=tools,
            write=write,
            is_stream=is_stream,
            api_version=api_version,
            betas=betas,
        )
        self.settings: dict[str, object] = {"max_tokens": 2048, **(settings or {})}
        self._system = system

    # What the customer and the application do

    def give(self, *results: Block, after: float = 1.2) -> None:
        """The application hands the tools' results back."""
        self.clock.wait(after)
        self.history.append({"role": "user", "content": list(results)})
        self._next_action()

    def call(self, name: str, **arguments: object) -> Block:
        return {"type": "tool_use", "id": self.mint("toolu_01"), "name": name, "input": arguments}

    # What the provider does

    def answer(self, *blocks: Block, take: float = 3.2, stop: str = "", served: str = "") -> Exchange:
        """The provider answers with these blocks, and the client keeps them in its history."""
        message = self._message(list(blocks), stop or _usual_stop(blocks), served or self.model)
        body = event_stream(message) if self._is_stream else compact(message)
        exchange = self._exchange(body, status=200, take=take)
        self.history.append({"role": "assistant", "content": self._echo(blocks)})
        return exchange

    def cut_off(self, *blocks: Block, at_share: float, take: float = 5.0) -> Exchange:
        """The stream breaks after a share of its bytes; the client keeps nothing."""
        body = event_stream(self._message(list(blocks), _usual_stop(blocks), self.model))
        return self._exchange(body[: int(len(body) * at_share)], status=200, take=take)

    def break_off(self, *blocks: Block, error: str, words: str, take: float = 4.0) -> Exchange:
        """The stream ends in an error event, after the blocks."""
        message = self._message(list(blocks), _usual_stop(blocks), self.model)
        return self._exchange(event_stream(message, error=(error, words)), status=200, take=take)

    def fail(self, status: int, error: str, words: str, *, take: float = 0.7) -> Exchange:
        request_id = self.mint("req_011C", 20)
        body = {"type": "error", "error": {"type": error, "message": words}, "request_id": request_id}
        return self._exchange(compact(body), status=status, take=take, request_id=request_id)

    # The bytes

    def request_body(self) -> bytes:
        """Key order is the SDK's: max_tokens, messages, model, then the rest by name."""
        body: dict[str, object] = {
            "max_tokens": self.settings["max_tokens"],
            "messages": self.history,
            "model": self.model,
        }
        rest = {key: value for key, value in self.settings.items() if key != "max_tokens"}
        if self._is_stream:
            rest["stream"] = True
        if self._system:
            cached = {"type": "text", "text": self._system, "cache_control": {"type": "ephemeral"}}
            rest["system"] = [cached]
        if self._tools:
            rest["tools"] = self._tools
        return self._write({**body, **dict(sorted(rest.items()))})

    def _echo(self, blocks: Sequence[Block]) -> list[Block]:
        return deepcopy(list(blocks))

    def _message(self, blocks: list[Block], stop: str, served: str) -> dict[str, object]:
        return {
            "id": self.mint("msg_01"),
            "type": "message",
            "role": "assistant",
            "model": served,
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": self._usage(blocks),
        }

    def _usage(self, blocks: list[Block]) -> dict[str, object]:
        fixed = estimated_tokens(self._system) + estimated_tokens(spaced(self._tools))
        is_first = not any(exchange.status_code == 200 for exchange in self.exchanges)
        searches = sum(1 for block in blocks if block["type"] == "server_tool_use")
        usage: dict[str, object] = {
            "input_tokens": estimated_tokens(spaced(self.history)),
            "cache_creation_input_tokens": fixed if is_first else 0,
            "cache_read_input_tokens": 0 if is_first else fixed,
            "cache_creation": {
                "ephemeral_5m_input_tokens": fixed if is_first else 0,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": estimated_tokens(spaced(blocks)),
            "service_tier": "standard",
        }
        if searches:
            usage["server_tool_use"] = {"web_search_requests": searches, "web_fetch_requests": 0}
        return usage


def _usual_stop(blocks: Sequence[Block]) -> str:
    return "tool_use" if blocks and blocks[-1]["type"] == "tool_use" else "end_turn"
