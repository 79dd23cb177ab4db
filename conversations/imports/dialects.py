"""Messages that stand in an export as a provider's API takes them, cut as the recorder cuts them."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.drafts import MessageDraft, PartDraft
from conversations.imports.drafting import PARENT_NAMES, as_dict, as_text, id_of
from conversations.vocabulary import Dialect, Role
from conversations.wire import anthropic_messages, chat_messages
from conversations.wire.anthropic_blocks import RULES as ANTHROPIC
from conversations.wire.blocks import cut_content
from conversations.wire.chat_messages import READ_MESSAGES
from conversations.wire.cuts import FramedMessage, detect_style
from conversations.wire.requests import build_messages
from conversations.wire.shapes import COMPACT, Style, WireError
from conversations.wire.slices import (
    BYTE_ORDER_MARK,
    Sliced,
    decode_text,
    read_list,
    read_object,
    skip_space,
    slice_json,
)

_ANTHROPIC_MESSAGE = read_object({"content": read_list()})
# Blocks that only Anthropic's format has, and what only OpenAI's chat format has beside the content.
_ANTHROPIC_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"})
_CHAT_ROLES = frozenset({"tool", "function"})
_CHAT_MEMBERS = ("tool_calls", "function_call", "tool_call_id")


@dataclass(slots=True)
class Unreadable:
    """An item of a list of messages that is none."""

    raw: bytes
    reason: str


@dataclass(slots=True)
class CutRecord:
    """A record's messages, whose format they are in, and the record's other members by value.

    `links` has each message's own id and its parent's, where messages name one another
    by id; then each is a draft of its own, and nothing next to it in the list belongs to its turn.
    """

    drafts: list[MessageDraft | Unreadable]
    fields: dict[str, object]
    dialect: Dialect
    links: list[tuple[str, str]] | None


def draft_chat_record(raw: bytes, *, keys: Sequence[str]) -> CutRecord:
    """Cut a list of messages: the record itself, or its first member of `keys` that is one.

    They are read as Chat Completions has them, or as Anthropic Messages where their blocks say so.
    System messages stay in the list. Raises WireError where there is no list.
    """
    text = decode_text(raw)
    start = skip_space(text, 1 if text.startswith(BYTE_ORDER_MARK) else 0)
    if text.startswith("[", start):
        listed, end = READ_MESSAGES(text, start)
        if not isinstance(listed, Sliced) or skip_space(text, end) != len(text):
            raise WireError("more text after the list of messages")
        first = next((item.value for item in listed.items if isinstance(item.value, Sliced)), None)
        style = COMPACT if first is None else detect_style(text, first)
        return _cut(text, listed, style, {})
    if not text.startswith("{", start):
        raise WireError("a record without a list of messages")
    body = slice_json(text, dict.fromkeys(keys, READ_MESSAGES))
    for key in keys:
        value = body.value(key)
        if isinstance(value, Sliced) and not value.is_object:
            fields = {member.key: member.value for member in body.members if member.key not in keys}
            return _cut(text, value, detect_style(text, body), fields)
    raise WireError("a record without a list of messages")


def _cut(text: str, listed: Sliced, style: Style, fields: dict[str, object]) -> CutRecord:
    dialect = _dialect_of(listed)
    links = [_links_of(item.value) for item in listed.items]
    own_ids = {own for own, _ in links if own}
    is_tree = any(parent in own_ids for _, parent in links)
    drafts = _drafts(text, listed, style, dialect, is_tree=is_tree)
    return CutRecord(drafts, fields, dialect, links if is_tree else None)


def _links_of(message: object) -> tuple[str, str]:
    if not isinstance(message, Sliced) or not message.is_object:
        return "", ""
    named = {member.key.lower(): member.value for member in message.members}
    parent = next((named[name] for name in PARENT_NAMES if name in named), None)
    return id_of(named.get("id")), id_of(parent)


def _dialect_of(listed: Sliced) -> Dialect:
    """Whose format a list of messages is in; most messages are the same in both."""
    messages = [
        item.value for item in listed.items if isinstance(item.value, Sliced) and item.value.is_object
    ]
    if any(
        as_text(message.value("role")) in _CHAT_ROLES or any(message.last(name) for name in _CHAT_MEMBERS)
        for message in messages
    ):
        return Dialect.OPENAI_CHAT
    contents = [content for message in messages if isinstance(content := message.value("content"), Sliced)]
    blocks = [item.value for content in contents if not content.is_object for item in content.items]
    if any(as_text(as_dict(block).get("type")) in _ANTHROPIC_BLOCKS for block in blocks):
        return Dialect.ANTHROPIC_MESSAGES
    return Dialect.OPENAI_CHAT


def _drafts(
    text: str, listed: Sliced, style: Style, dialect: Dialect, *, is_tree: bool
) -> list[MessageDraft | Unreadable]:
    is_anthropic = dialect == Dialect.ANTHROPIC_MESSAGES
    frame_message = anthropic_messages.frame_message if is_anthropic else chat_messages.frame_message
    drafts: list[MessageDraft | Unreadable] = []
    framed: list[FramedMessage] = []
    for index, item in enumerate(listed.items):
        try:
            if not isinstance(item.value, Sliced) or not item.value.is_object:
                raise WireError("an item that is no message")
            if not isinstance(item.value.value("role"), str):
                raise WireError("a message without a role")
            framed.append(frame_message(text, item, index, style))
            if is_tree:
                drafts += build_messages(text, framed, dialect=dialect, style=style)
                framed = []
        except WireError as error:
            drafts += build_messages(text, framed, dialect=dialect, style=style)
            framed = []
            drafts.append(Unreadable(text[item.start : item.end].encode(), error.reason))
    drafts += build_messages(text, framed, dialect=dialect, style=style)
    return drafts


def anthropic_parts(raw: bytes, *, role: Role) -> tuple[list[PartDraft], bool]:
    """Cut the content of the member `message` of a record; say whether it was a bare string.

    Raises WireError where the record or its message is no object.
    """
    text = decode_text(raw)
    record = slice_json(text, {"message": _ANTHROPIC_MESSAGE})
    message = record.value("message")
    if not isinstance(message, Sliced) or not message.is_object:
        raise WireError("not an object", place="message")
    content = message.last("content")
    style = detect_style(text, record)
    parts, _ = cut_content(text, content, rules=ANTHROPIC, role=role, style=style)
    return parts, content is not None and isinstance(content.value, str)
