"""The content blocks of Anthropic's Messages format."""

from collections.abc import Mapping

from conversations.drafts import PartDraft
from conversations.vocabulary import Dialect, PartStatus, PartType, Role
from conversations.wire.blocks import BlockRules
from conversations.wire.cuts import call_key, name_of

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


_CALLS = frozenset({PartType.TOOL_USE, PartType.SERVER_TOOL_USE})
_RESULTS = frozenset({PartType.TOOL_RESULT, PartType.SERVER_TOOL_RESULT})
_FILES = frozenset({PartType.IMAGE, PartType.DOCUMENT})


def describe(part: PartDraft, block: Mapping[str, object], role: Role) -> None:
    """Fill in what the store asks about: type, ids, names, status."""
    kind = name_of(block.get("type"))
    found = BLOCK_TYPES.get(kind, PartType.OTHER)
    if found is PartType.OTHER and kind.endswith("_tool_result") and "tool_use_id" in block:
        found = PartType.SERVER_TOOL_RESULT
        part.tool_name = kind.removesuffix("_tool_result")
    part.type = found
    part.provider_type = "" if kind == found else kind
    if found in _CALLS:
        part.tool_call_id = call_key(block.get("id"))
        part.tool_name = name_of(block.get("name"))
    elif found in _RESULTS:
        part.tool_call_id = call_key(block.get("tool_use_id"))
        part.status = PartStatus.ERROR if _is_error(block) else PartStatus.OK
    elif found in _FILES:
        source = block.get("source")
        part.media_type = name_of(source.get("media_type")) if isinstance(source, dict) else ""


def _is_error(block: Mapping[str, object]) -> bool:
    content = block.get("content")
    if isinstance(content, dict) and isinstance(content.get("type"), str):
        return str(content["type"]).endswith("_error")
    return block.get("is_error") is True


RULES = BlockRules(
    dialect=DIALECT,
    words={"text": ("text",), "thinking": ("thinking",), "tool_result": ("content",)},
    describe=describe,
)
