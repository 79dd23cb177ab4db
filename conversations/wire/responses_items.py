"""The items of OpenAI's Responses format, in requests and in answers.

A `message` item frames content blocks; every other item is one part. What the
model did and said in one go is one turn: reasoning, calls, server tools and
messages follow one another as items.
"""

from collections.abc import Mapping
from typing import Final

from conversations.drafts import HOLE_BLOCKS, PartDraft
from conversations.vocabulary import Dialect, PartStatus, PartType, Role
from conversations.wire.blocks import BlockRules, cut_content, cut_value
from conversations.wire.chat_messages import data_url_type
from conversations.wire.cuts import FramedMessage, call_key, frame, name_of, role_of
from conversations.wire.requests import walked
from conversations.wire.shapes import Style
from conversations.wire.slices import Item, Reader, Sliced, read_list, read_value, slice_object

DIALECT = Dialect.OPENAI_RESPONSES

# Calls that the application answers with an item of the same name and "_output".
CLIENT_CALLS: Final[Mapping[str, str]] = {
    "function_call": "",
    "custom_tool_call": "",
    "computer_call": "computer",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
}
_RESULT_NAMES: Final = {"tool_search_output": "tool_search_call"}
SERVER_CALLS: Final[Mapping[str, str]] = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_interpreter",
    "image_generation_call": "image_generation",
    "mcp_call": "",
    "program": "program",
}
# What else the model's side of a turn consists of; the rest is the application's.
MODEL_ITEMS: Final = frozenset(
    {
        "reasoning",
        "mcp_list_tools",
        "mcp_approval_request",
        "program_output",
        "compaction",
        "item_reference",
    }
)
WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "input_text": ("text",),
    "output_text": ("text",),
    "text": ("text",),
    "refusal": ("refusal",),
    "reasoning": ("summary", "content"),
    "function_call_output": ("output",),
    "custom_tool_call_output": ("output",),
    "local_shell_call_output": ("output",),
    "apply_patch_call_output": ("output",),
}
_BLOCK_TYPES: Final[Mapping[str, PartType]] = {
    "input_text": PartType.TEXT,
    "output_text": PartType.TEXT,
    "text": PartType.TEXT,
    "refusal": PartType.TEXT,
    "input_image": PartType.IMAGE,
    "input_file": PartType.DOCUMENT,
}


def describe_block(part: PartDraft, block: Mapping[str, object], role: Role) -> None:
    """Fill in what the store asks about a block inside a message item."""
    kind = name_of(block.get("type"))
    part.type = _BLOCK_TYPES.get(kind, PartType.OTHER)
    usual = "output_text" if role == Role.ASSISTANT else "input_text"
    part.provider_type = "" if kind == usual else kind
    if part.type == PartType.IMAGE:
        part.media_type = data_url_type(block.get("image_url"))
    elif part.type == PartType.DOCUMENT:
        part.media_type = data_url_type(block.get("file_data"))


RULES = BlockRules(dialect=DIALECT, words=WORDS, describe=describe_block)


def frame_item(text: str, item: Item, index: int, style: Style, *, server_calls: set[str]) -> FramedMessage:
    """One item as a message of its own; the pieces of a turn are put together afterwards.

    `server_calls` collects the ids of calls that the provider runs itself, so
    that their outputs are not taken for the application's answers.
    """
    value = item.value
    if not isinstance(value, dict):
        return _frame_message(text, walked(text, item), index, style)
    kind = value.get("type")
    words = WORDS.get(kind, ()) if isinstance(kind, str) else ()
    part = cut_value(text, item, value, words, style)
    role = describe_item(part, value, server_calls)
    return FramedMessage(role, "", [part], HOLE_BLOCKS, item.start, item.end, index)


def _read_item(text: str, position: int) -> tuple[object, int]:
    """Messages are walked; all other items are read plainly."""
    value, end = read_value(text, position)
    if isinstance(value, dict) and value.get("type", "message") in (None, "message"):
        return slice_object(text, position, _MESSAGE)
    return value, end


_MESSAGE: Final[Mapping[str, Reader]] = {"content": read_list()}
READ_ITEMS: Final = read_list(_read_item)


def describe_item(part: PartDraft, item: Mapping[str, object], server_calls: set[str]) -> Role:
    """Fill in what the store asks about an item; return whose side of the dialogue it is on."""
    kind = name_of(item.get("type"))
    part.type = PartType.OTHER
    part.provider_type = kind
    call_id = call_key(item.get("call_id"))
    if kind == "local_shell_call_output":
        # Its own type names the call by `id`, as the one result that does.
        call_id = call_id or call_key(item.get("id"))
    if kind in CLIENT_CALLS and not _runs_at_provider(item):
        return _describe_call(part, item, kind, call_id)
    if kind in CLIENT_CALLS or kind in SERVER_CALLS:
        part.type = PartType.SERVER_TOOL_USE
        part.tool_call_id = call_id or call_key(item.get("id"))
        part.tool_name = CLIENT_CALLS.get(kind) or SERVER_CALLS.get(kind) or name_of(item.get("name"))
        if part.tool_call_id:
            server_calls.add(part.tool_call_id)
        return Role.ASSISTANT
    if (_RESULT_NAMES.get(kind) or kind.removesuffix("_output")) in CLIENT_CALLS:
        return _describe_result(part, item, kind, call_id, server_calls)
    if kind == "reasoning":
        part.type = PartType.THINKING
    if kind in MODEL_ITEMS:
        return Role.ASSISTANT
    return role_of(item.get("role"))[0]


def _describe_call(part: PartDraft, item: Mapping[str, object], kind: str, call_id: str | None) -> Role:
    part.type = PartType.TOOL_USE
    part.tool_call_id = call_id
    part.tool_name = CLIENT_CALLS[kind] or name_of(item.get("name"))
    part.provider_type = "" if kind == "function_call" else kind
    return Role.ASSISTANT


def _describe_result(
    part: PartDraft, item: Mapping[str, object], kind: str, call_id: str | None, server_calls: set[str]
) -> Role:
    part.tool_call_id = call_id
    part.status = PartStatus.ERROR if item.get("status") in ("failed", "incomplete") else PartStatus.OK
    if call_id in server_calls or _runs_at_provider(item):
        part.type = PartType.SERVER_TOOL_RESULT
        return Role.ASSISTANT
    part.type = PartType.TOOL_RESULT
    part.provider_type = "" if kind == "function_call_output" else kind
    return Role.TOOL


def _runs_at_provider(item: Mapping[str, object]) -> bool:
    """A shell call in one of the provider's containers, or a search of tools that the provider makes."""
    if item.get("type") in ("tool_search_call", "tool_search_output"):
        return item.get("execution") != "client"
    environment = item.get("environment")
    kind = environment.get("type") if isinstance(environment, dict) else None
    return isinstance(kind, str) and kind.startswith("container")


def _frame_message(text: str, item: Sliced, index: int, style: Style) -> FramedMessage:
    role, provider_role = role_of(item.value("role"))
    parts, holes = cut_content(text, item.last("content"), rules=RULES, role=role, style=style)
    shell = frame(text, item.start, item.end, holes, style)
    return FramedMessage(role, provider_role, parts, shell, item.start, item.end, index)
