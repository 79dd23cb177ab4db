"""What the providers' own SDKs make of a stream, served to them without a network."""

import json
from collections.abc import Iterable

import anthropic
import httpx2
import openai

from conversations.wire.render import render_message
from conversations.wire.shapes import COMPACT


def sse(events: Iterable[dict], *, done: bool = False) -> bytes:
    body = "".join(f"event: {event.get('type', '')}\ndata: {json.dumps(event)}\n\n" for event in events)
    return (body + ("data: [DONE]\n\n" if done else "")).encode()


def chunks(events: Iterable[dict], *, done: bool = True) -> bytes:
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return (body + ("data: [DONE]\n\n" if done else "")).encode()


def _serve(body: bytes) -> httpx2.MockTransport:
    headers = {"content-type": "text/event-stream"}
    return httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content=body))


def anthropic_blocks(body: bytes) -> list[dict]:
    client = anthropic.Anthropic(
        api_key="k", http_client=anthropic.DefaultHttpxClient(transport=_serve(body)), max_retries=0
    )
    with client.messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]
    ) as stream:
        return [known(block.to_dict()) for block in stream.get_final_message().content]


def chat_message(body: bytes) -> dict:
    client = openai.OpenAI(
        api_key="k", http_client=openai.DefaultHttpxClient(transport=_serve(body)), max_retries=0
    )
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "x"}]) as stream:
        (choice,) = stream.get_final_completion().choices
        message = known(choice.message.to_dict())
    for call in message.get("tool_calls", []):
        call.pop("index", None)
        call["function"].pop("parsed_arguments", None)
    return message


def responses_output(body: bytes) -> list[dict]:
    client = openai.OpenAI(
        api_key="k", http_client=openai.DefaultHttpxClient(transport=_serve(body)), max_retries=0
    )
    with client.responses.stream(model="m", input="x") as stream:
        return [known(item.to_dict()) for item in stream.get_final_response().output]


def known(value):
    """Without what the SDKs add: nulls and empty lists of what did not come."""
    if isinstance(value, dict):
        added = ("parsed", "parsed_arguments", "parsed_output")
        return {k: known(v) for k, v in value.items() if v is not None and v != [] and k not in added}
    return [known(item) for item in value] if isinstance(value, list) else value


def rendered_blocks(message, dialect) -> list[dict]:
    text = render_message(message, dialect=dialect, style=COMPACT)
    value = json.loads(f"[{text}]")
    return [known(block) for block in value]
