"""What the caller of an SDK sees of a call: each event, or the answer, or the error, as text."""

import itertools
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import anthropic
import httpx2
import openai

from conversations.vocabulary import Dialect
from evidence.captures.calls import Call
from evidence.replay_server import NAMED_BY

SDK_ERRORS = (anthropic.AnthropicError, openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError)
_EVENTS_BEFORE_CLOSING = 3


def see(client: Any, call: Call, *, named: str) -> list[str]:
    """Make the call with a synchronous client, and return all that its caller sees."""
    try:
        answer = make(client, call, named=named)
        if not call.request.get("stream"):
            return [told(answer)]
        if not call.is_closed_early:
            return [told(event) for event in answer]
        with answer:
            return [told(event) for event in itertools.islice(answer, _EVENTS_BEFORE_CLOSING)]
    except SDK_ERRORS as error:
        return [error_told(error)]


async def see_async(client: Any, call: Call, *, named: str) -> list[str]:
    """Do the same with an asynchronous client."""
    try:
        answer = await make(client, call, named=named)
        if not call.request.get("stream"):
            return [told(answer)]
        if not call.is_closed_early:
            return [told(event) async for event in answer]
        async with answer:
            return [told(event) async for event in _first(answer, _EVENTS_BEFORE_CLOSING)]
    except SDK_ERRORS as error:
        return [error_told(error)]


def see_bytes(client: Any, call: Call, *, named: str) -> list[str]:
    """Send the recorded bytes as they are through the SDK, and return the bytes of the answer."""
    try:
        answer = client.post(
            call.path.removeprefix("/v1") if isinstance(client, openai.OpenAI) else call.path,
            content=call.request_body,
            cast_to=httpx2.Response,
            options={"headers": {NAMED_BY: named, "Content-Type": "application/json"}},
        )
        return [answer.content.hex()]
    except SDK_ERRORS as error:
        return [error_told(error)]


def make(client: Any, call: Call, *, named: str) -> Any:
    """Call the method that an application would call; what it has no argument for goes along as it is."""
    method, members = _METHODS[call.dialect or Dialect.ANTHROPIC_MESSAGES]
    body = call.request
    given = {name: body.pop(name) for name in members if name in body}
    return method(client)(**given, extra_body=body, extra_headers={NAMED_BY: named})


_METHODS: dict[Dialect, tuple[Callable[[Any], Any], Iterable[str]]] = {
    Dialect.ANTHROPIC_MESSAGES: (
        lambda client: client.messages.create,
        ("model", "messages", "max_tokens", "stream", "system", "tools", "tool_choice", "thinking"),
    ),
    Dialect.OPENAI_CHAT: (
        lambda client: client.chat.completions.create,
        ("model", "messages", "stream", "tools", "temperature"),
    ),
    Dialect.OPENAI_RESPONSES: (
        lambda client: client.responses.create,
        ("model", "input", "stream", "tools", "instructions", "previous_response_id", "store"),
    ),
}


async def _first(events: AsyncIterator[Any], count: int) -> AsyncIterator[Any]:
    for _ in range(count):
        try:
            yield await anext(events)
        except StopAsyncIteration:
            return


def told(value: Any) -> str:
    return value.to_json(indent=None) if hasattr(value, "to_json") else repr(value)


def error_told(error: BaseException) -> str:
    body = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    return f"{type(error).__name__} {status} {body!r}" if body is not None else type(error).__name__
