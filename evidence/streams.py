"""Whether a streamed answer, as it is kept, is the message that the provider's own SDK accumulates."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import anthropic
import httpx2
import openai

from conversations.drafts import MessageDraft
from conversations.vocabulary import Dialect
from conversations.wire.render import render_message
from conversations.wire.shapes import COMPACT
from tests.conversations.wire.streams import sdks

# What the SDKs raise for a stream that ends in an error or breaks off.
SDK_ERRORS = (anthropic.AnthropicError, openai.OpenAIError, AssertionError, ValueError)


def is_as_accumulated(dialect: Dialect, stream: bytes, message: MessageDraft | None) -> bool | None:
    """Compare our message with the SDK's; None where the SDK makes no message of the stream.

    It raises where the stream breaks off, and spells roles over and over where
    another server than its own repeats them in every piece. Encrypted reasoning
    is left out: the provider sends it twice, encrypted differently, and either
    is valid.
    """
    try:
        wanted = _ACCUMULATE[dialect](stream)
    except SDK_ERRORS:
        return None
    if dialect == Dialect.OPENAI_CHAT and wanted[0].get("role") != "assistant":
        return None
    return _without_sealed(_kept(dialect, message)) == _without_sealed(wanted)


def _anthropic_blocks(stream: bytes) -> list[dict]:
    """The beta interface knows the blocks of every beta, and all others."""
    client = anthropic.Anthropic(
        api_key="k", http_client=anthropic.DefaultHttpxClient(transport=_serve(stream)), max_retries=0
    )
    with client.beta.messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
    ) as events:
        return [_known(block.to_dict()) for block in events.get_final_message().content]


def _serve(stream: bytes) -> httpx2.MockTransport:
    headers = {"content-type": "text/event-stream"}
    return httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content=stream))


_ACCUMULATE: Mapping[Dialect, Callable[[bytes], list[dict]]] = {
    Dialect.ANTHROPIC_MESSAGES: _anthropic_blocks,
    Dialect.OPENAI_CHAT: lambda stream: [sdks.chat_message(stream)],
    Dialect.OPENAI_RESPONSES: sdks.responses_output,
}


def _kept(dialect: Dialect, message: MessageDraft | None) -> list[dict]:
    if message is None:
        return []
    listed = json.loads(f"[{render_message(message, dialect=dialect, style=COMPACT)}]")
    blocks = listed[0]["content"] if dialect == Dialect.ANTHROPIC_MESSAGES else listed
    return [_known(block) for block in blocks]


def _known(value: Any) -> Any:
    known: Callable[[Any], Any] = sdks.known
    return known(value)


def _without_sealed(blocks: list[dict]) -> list[dict]:
    return [{key: value for key, value in block.items() if key != "encrypted_content"} for block in blocks]
