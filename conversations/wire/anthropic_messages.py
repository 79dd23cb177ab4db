"""Anthropic's Messages format: request bodies and JSON answers.

A message is `{"role", "content"}`, content a string or a list of blocks; tool
results stand in the next user message. The events of a streamed answer are
read in `streams.anthropic_messages`.
"""

from collections.abc import Mapping

from conversations.drafts import PartDraft
from conversations.vocabulary import Dialect, PartStatus, PartType, Role
from conversations.wire.blocks import BlockRules, cut_content
from conversations.wire.cuts import FramedMessage, call_key, detect_style, frame, name_of, role_of
from conversations.wire.requests import cut_request, walked
from conversations.wire.shapes import ParsedRequest, Style
from conversations.wire.slices import Item, decode_text, read_list, read_object, slice_json

DIALECT = Dialect.ANTHROPIC_MESSAGES

BLOCK_TYPES: Mapping[str, PartType] = {
    "text": PartType.TEXT,
    "image": PartType.IMAGE,
    "document": PartType.DOCUMENT,
    "search_result": PartType.DOCUMENT,
    "thinking": PartType.THINKING,
    "redacted_thinking": PartType.THINKING,
    "tool_use": PartType.TOOL_USE,
    "tool_result": PartType.TOOL_RESULT,
    "server_tool_use": PartType.SERVER_TOOL_USE,
    "mcp_tool_use": PartType.SERVER_TOOL_USE,
}
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
        frame_message=_frame_message,
    )


def describe(part: PartDraft, block: Mapping[str, object], role: Role) -> None:
    """Fill in what the store asks about: type, ids, names, status."""
    kind = name_of(block.get("type"))
    part.type = BLOCK_TYPES.get(kind, PartType.OTHER)
    if part.type == PartType.OTHER and kind.endswith("_tool_result") and "tool_use_id" in block:
        part.type = PartType.SERVER_TOOL_RESULT
        part.tool_name = kind.removesuffix("_tool_result")
    part.provider_type = "" if kind == part.type.value else kind
    if part.type in (PartType.TOOL_USE, PartType.SERVER_TOOL_USE):
        part.tool_call_id = call_key(block.get("id"))
        part.tool_name = name_of(block.get("name"))
    elif part.type in (PartType.TOOL_RESULT, PartType.SERVER_TOOL_RESULT):
        part.tool_call_id = call_key(block.get("tool_use_id"))
        part.status = PartStatus.ERROR if _is_error(block) else PartStatus.OK
    elif part.type in (PartType.IMAGE, PartType.DOCUMENT):
        source = block.get("source")
        part.media_type = name_of(source.get("media_type")) if isinstance(source, dict) else ""


RULES = BlockRules(
    dialect=DIALECT,
    words={"text": ("text",), "thinking": ("thinking",), "tool_result": ("content",)},
    describe=describe,
)


def _frame_message(text: str, item: Item, index: int, style: Style) -> FramedMessage:
    message = walked(text, item)
    role, provider_role = role_of(message.value("role"))
    parts, holes = cut_content(text, message.last("content"), rules=RULES, role=role, style=style)
    shell = frame(text, message.start, message.end, holes, style)
    return FramedMessage(role, provider_role, parts, shell, message.start, message.end, index)


def _is_error(block: Mapping[str, object]) -> bool:
    content = block.get("content")
    if isinstance(content, dict) and isinstance(content.get("type"), str):
        return str(content["type"]).endswith("_error")
    return block.get("is_error") is True
