"""Anthropic's Messages format: request bodies and JSON answers.

A message is `{"role", "content"}`, content a string or a list of blocks; tool
results stand in the next user message. Blocks are in `anthropic_blocks`, the
events of a streamed answer in `streams.anthropic_messages`.
"""

from conversations.wire.answers import read_json_answer
from conversations.wire.anthropic_answers import read_answer
from conversations.wire.anthropic_blocks import DIALECT, RULES
from conversations.wire.blocks import cut_content
from conversations.wire.cuts import FramedMessage, detect_style, frame, role_of
from conversations.wire.requests import cut_request, walked
from conversations.wire.shapes import ParsedRequest, ParsedResponse, Style
from conversations.wire.slices import Item, decode_text, read_list, read_object, slice_json
from conversations.wire.streams.anthropic_messages import read_stream
from conversations.wire.streams.events import is_event_stream, read_events

_MESSAGES = read_list(read_object({"content": read_list()}))


def parse_request(body: bytes) -> ParsedRequest:
    """Cut a POST /v1/messages body; raises WireError naming the place."""
    text = decode_text(body)
    sliced = slice_json(text, {"messages": _MESSAGES})
    return cut_request(
        text,
        sliced,
        dialect=DIALECT,
        style=detect_style(text, sliced),
        messages_key="messages",
        preamble_key="system",
        frame_message=frame_message,
    )


def parse_response(body: bytes, http_status: int | None = None) -> ParsedResponse:
    """Read an answer, JSON or event stream, as far as it arrived; never raises."""
    if is_event_stream(body):
        return read_stream(read_events(body))
    return read_json_answer(body, http_status, read_answer)


def frame_message(text: str, item: Item, index: int, style: Style) -> FramedMessage:
    """One message of the list, cut."""
    message = walked(text, item)
    role, provider_role = role_of(message.value("role"))
    parts, holes = cut_content(text, message.last("content"), rules=RULES, role=role, style=style)
    shell = frame(text, message.start, message.end, holes, style)
    return FramedMessage(role, provider_role, parts, shell, message.start, message.end, index)
