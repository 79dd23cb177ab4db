"""OpenAI's Chat Completions format: request bodies and JSON answers."""

from conversations.wire.answers import read_json_answer
from conversations.wire.chat_answers import read_answer
from conversations.wire.chat_messages import DIALECT, READ_MESSAGES, frame_message
from conversations.wire.cuts import detect_style
from conversations.wire.requests import cut_request
from conversations.wire.shapes import ParsedRequest, ParsedResponse
from conversations.wire.slices import decode_text, slice_json
from conversations.wire.streams.events import is_event_stream, read_events
from conversations.wire.streams.openai_chat import read_stream


def parse_request(body: bytes) -> ParsedRequest:
    """Cut a POST /v1/chat/completions body; raises WireError naming the place."""
    text = decode_text(body)
    sliced = slice_json(text, {"messages": READ_MESSAGES})
    return cut_request(
        text,
        sliced,
        dialect=DIALECT,
        style=detect_style(text, sliced),
        messages_key="messages",
        preamble_key=None,
        frame_message=frame_message,
    )


def parse_response(body: bytes, http_status: int | None = None) -> ParsedResponse:
    """Read an answer, JSON or event stream, as far as it arrived; never raises."""
    if is_event_stream(body):
        return read_stream(read_events(body))
    return read_json_answer(body, http_status, read_answer)
