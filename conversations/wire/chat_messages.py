"""The messages of OpenAI's Chat Completions format, in requests and in answers.

Each tool's answer is a message of its own, so there the message is the part.
An assistant's message holds its words in `content` and its calls in a list
beside it; older ones hold a single `function_call` without an id.
"""

from collections.abc import Callable, Mapping

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, PartDraft
from conversations.vocabulary import Dialect, PartStatus, PartType, Role
from conversations.wire.blocks import BlockRules, cut_content, cut_walked, read_worded
from conversations.wire.cuts import (
    FramedMessage,
    Hole,
    call_key,
    cut_string,
    frame,
    name_of,
    role_of,
)
from conversations.wire.requests import walked
from conversations.wire.shapes import Style
from conversations.wire.slices import Item, Member, Sliced, read_list, read_object

DIALECT = Dialect.OPENAI_CHAT

BLOCK_TYPES: Mapping[str, PartType] = {
    "text": PartType.TEXT,
    "refusal": PartType.TEXT,
    "image_url": PartType.IMAGE,
    "file": PartType.DOCUMENT,
}
# Members of an assistant's message that are strings somebody said, beside `content`.
SPOKEN_MEMBERS: Mapping[str, PartType] = {
    "refusal": PartType.TEXT,
    "reasoning_content": PartType.THINKING,
    "reasoning": PartType.THINKING,
}
READ_MESSAGE = read_object({"content": read_list(), "tool_calls": read_list()})
READ_MESSAGES = read_list(READ_MESSAGE)


def describe(part: PartDraft, block: Mapping[str, object], role: Role) -> None:
    """Fill in what the store asks about a content block."""
    kind = name_of(block.get("type"))
    part.type = BLOCK_TYPES.get(kind, PartType.OTHER)
    part.provider_type = "" if kind == part.type.value else kind
    if part.type == PartType.IMAGE:
        image = block.get("image_url")
        part.media_type = data_url_type(image.get("url") if isinstance(image, dict) else image)
    elif part.type == PartType.DOCUMENT:
        file = block.get("file")
        part.media_type = data_url_type(file.get("file_data")) if isinstance(file, dict) else ""


RULES = BlockRules(dialect=DIALECT, words={"text": ("text",), "refusal": ("refusal",)}, describe=describe)


def data_url_type(url: object) -> str:
    """The media type that a `data:` URL names."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return ""
    return name_of(url[5:].partition(",")[0].partition(";")[0])


def frame_message(text: str, item: Item, index: int, style: Style) -> FramedMessage:
    """One message of the list, cut."""
    message = walked(text, item)
    role, provider_role = role_of(message.value("role"))
    if role == Role.TOOL:
        part = _read_result(text, message, style)
        return FramedMessage(role, provider_role, [part], HOLE_BLOCKS, message.start, message.end, index)
    named = message.named()
    parts, holes = cut_content(text, named.get("content"), rules=RULES, role=role, style=style)
    found = list(zip(holes, parts, strict=False))
    for name, member in named.items():
        if name in _MEMBER_READERS:
            found += _MEMBER_READERS[name](text, member, style)
    if found:
        # In the order of the bytes, which need not be the usual one.
        found.sort(key=lambda pair: pair[0])
        holes = [hole for hole, _ in found]
    shell = frame(text, message.start, message.end, holes, style)
    cut = [part for _, part in found]
    return FramedMessage(role, provider_role, cut, shell, message.start, message.end, index)


def _read_result(text: str, message: Sliced, style: Style) -> PartDraft:
    part = cut_walked(text, message, ("content",), style)
    part.type = PartType.TOOL_RESULT
    part.status = PartStatus.OK
    part.tool_call_id = call_key(message.value("tool_call_id"))
    part.tool_name = name_of(message.value("name")) or None
    return part


def _read_spoken(text: str, member: Member, style: Style) -> list[tuple[Hole, PartDraft]]:
    if not isinstance(member.value, str):
        return []
    part, mark = cut_string(text, start=member.value_start, end=member.end, value=member.value, style=style)
    part.type = SPOKEN_MEMBERS[member.key]
    part.provider_type = member.key
    return [(Hole(member.value_start, member.end, mark), part)]


def _read_calls(text: str, member: Member, style: Style) -> list[tuple[Hole, PartDraft]]:
    if not isinstance(member.value, Sliced):
        return []
    return [(Hole(item.start, item.end, HOLE_BLOCK), _read_call(text, item)) for item in member.value.items]


def _read_call(text: str, item: Item) -> PartDraft:
    part = PartDraft(PartType.OTHER, payload=text[item.start : item.end].encode())
    if isinstance(item.value, dict):
        describe_call(part, item.value)
    return part


def describe_call(part: PartDraft, call: Mapping[str, object]) -> None:
    """Id and name of one entry of `tool_calls`."""
    kind = name_of(call.get("type")) or "function"
    function = call.get(kind)
    part.type = PartType.TOOL_USE
    part.provider_type = "" if kind == "function" else kind
    part.tool_call_id = call_key(call.get("id"))
    part.tool_name = name_of(function.get("name")) if isinstance(function, dict) else ""


def _read_function_call(text: str, member: Member, style: Style) -> list[tuple[Hole, PartDraft]]:
    if not isinstance(member.value, dict):
        return []
    part = PartDraft(
        PartType.TOOL_USE,
        payload=text[member.value_start : member.end].encode(),
        provider_type="function_call",
        tool_name=name_of(member.value.get("name")),
    )
    return [(Hole(member.value_start, member.end, HOLE_BLOCK), part)]


def _read_audio(text: str, member: Member, style: Style) -> list[tuple[Hole, PartDraft]]:
    if not isinstance(member.value, dict):
        return []
    part = read_worded(text, member.value_start, ("transcript",), style)
    part.type = PartType.OTHER
    part.provider_type = "audio"
    return [(Hole(member.value_start, member.end, HOLE_BLOCK), part)]


# Members beside `content` that hold parts, and how they are read.
_MEMBER_READERS: Mapping[str, Callable[[str, Member, Style], list[tuple[Hole, PartDraft]]]] = {
    "tool_calls": _read_calls,
    "function_call": _read_function_call,
    "audio": _read_audio,
    **dict.fromkeys(SPOKEN_MEMBERS, _read_spoken),
}
