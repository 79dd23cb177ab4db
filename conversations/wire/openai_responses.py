"""OpenAI's Responses format: request bodies and JSON answers.

`input` is a string or a list of items (`responses_items`). With
`previous_response_id` or a hosted conversation the body is not the whole
prompt: what came before is on the provider's side.
"""

from functools import partial

from conversations.vocabulary import Dialect
from conversations.wire.answers import read_json_answer
from conversations.wire.cuts import detect_style
from conversations.wire.requests import cut_request
from conversations.wire.responses_answers import read_answer
from conversations.wire.responses_items import READ_ITEMS, frame_item
from conversations.wire.shapes import ParsedRequest, ParsedResponse
from conversations.wire.slices import decode_text, slice_json
from conversations.wire.streams.events import is_event_stream, read_events
from conversations.wire.streams.openai_responses import read_stream

DIALECT = Dialect.OPENAI_RESPONSES


def parse_request(body: bytes) -> ParsedRequest:
    """Cut a POST /v1/responses body; raises WireError naming the place."""
    text = decode_text(body)
    sliced = slice_json(text, {"input": READ_ITEMS})
    parsed = cut_request(
        text,
        sliced,
        dialect=DIALECT,
        style=detect_style(text, sliced),
        messages_key="input",
        preamble_key="instructions",
        frame_message=partial(frame_item, server_calls=set()),
        is_string_allowed=True,
    )
    parsed.previous_response_id = _string(sliced.value("previous_response_id"))
    conversation = sliced.value("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    parsed.hosted_conversation_id = _string(conversation)
    return parsed


def parse_response(body: bytes, http_status: int | None = None) -> ParsedResponse:
    """Read an answer, JSON or event stream, as far as it arrived; never raises."""
    if is_event_stream(body):
        return read_stream(read_events(body))
    return read_json_answer(body, http_status, read_answer)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
