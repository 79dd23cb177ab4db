"""Claude.ai's data export: `conversations.json`, in the zip or beside it.

The content blocks look like those of the Messages API and are not: thinking
has no signature, a tool's result stands in the assistant message of its call.
They are kept as they stand, and the conversation says that it cannot be
replayed as it ran.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from conversations.drafts import ImportedConversation, ImportedNode, PartDraft
from conversations.imports import exact_json
from conversations.imports.drafting import (
    as_dict,
    as_list,
    as_text,
    block_part,
    call_part,
    ending_of,
    id_of,
    minted_call_id,
    moment_of,
    result_part,
    text_part,
    title_of,
    unfold_turn,
)
from conversations.imports.reading import Beginnings, quarantined, read_each, ref
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import PartType, Role

LABEL: Final = "Claude.ai export"
_KEY: Final = "claude.ai"
_ROOT: Final = "00000000-0000-4000-8000-000000000000"
_SENDERS: Final = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}


def sniff(records: Sequence[Record]) -> bool:
    return any(
        isinstance(value := record.value, dict) and isinstance(value.get("chat_messages"), list)
        for record in records
    )


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    beginnings = Beginnings(_KEY)
    return read_each(document, lambda record: _conversation(record, beginnings))


def _conversation(record: Record, beginnings: Beginnings) -> ImportedConversation:
    value = as_dict(record.value)
    messages = value.get("chat_messages")
    if not isinstance(messages, list):
        raise UnreadableError("a conversation without a list of chat messages")
    key = id_of(value.get("uuid")) or id_of(value.get("conversation_id")) or _first_uuid(messages)
    conversation = ImportedConversation(
        external_ref=ref(_KEY, key)
        if key
        else beginnings.key(value.get("name"), value.get("created_at"), messages[:1]),
        nodes=[],
        head_source_id=id_of(value.get("current_leaf_message_uuid")) or None,
        title=title_of(value.get("name")) or title_of(value.get("title")),
        started_at=moment_of(value.get("created_at")) or moment_of(value.get("create_time")),
        updated_at=moment_of(value.get("updated_at")),
        model=as_text(value.get("model")),
        account_external_id=as_text(as_dict(value.get("account")).get("uuid")),
    )
    # Older exports name no parents, and some write the member with nothing in it.
    is_tree = any(id_of(as_dict(message).get("parent_message_uuid")) for message in messages)
    nodes: list[ImportedNode] = []
    before: str | None = None
    for number, message in enumerate(messages, start=1):
        source_id = id_of(as_dict(message).get("uuid")) or f"message-{number}"
        parent = _parent(as_dict(message)) if is_tree else before
        nodes += _nodes(source_id, parent, message, conversation)
        before = source_id
    conversation.nodes = nodes
    return conversation


def _first_uuid(messages: list[object]) -> str:
    return next((key for message in messages if (key := as_text(as_dict(message).get("uuid")))), "")


def _parent(message: dict[str, object]) -> str | None:
    parent = id_of(message.get("parent_message_uuid"))
    return None if parent in ("", _ROOT) else parent


def _nodes(
    source_id: str, parent: str | None, value: object, conversation: ImportedConversation
) -> Iterator[ImportedNode]:
    message = as_dict(value)
    role = _SENDERS.get(as_text(message.get("sender")))
    if role is None:
        yield quarantined(
            source_id, parent, exact_json.dump(value), "a message without a sender that we know"
        )
        return
    node = ImportedNode(
        source_id=source_id,
        parent_source_id=parent,
        message=None,
        model=conversation.model if role == Role.ASSISTANT else "",
        ending=ending_of("length" if message.get("truncated") is True else message.get("stop_reason")),
    )
    parts = _parts(source_id, message)
    if message.get("truncated") is True:
        conversation.notes.append(f"message {source_id} was cut off by the source")
    yield from unfold_turn(parts, node=node, role=role, occurred_at=moment_of(message.get("created_at")))


def _parts(source_id: str, message: dict[str, object]) -> list[PartDraft]:
    parts: list[PartDraft] = []
    blocks = as_list(message.get("content"))
    waiting: list[PartDraft] = []
    for number, block in enumerate(blocks, start=1):
        part = _part(block, waiting, minted_call_id(source_id, number))
        if part.type == PartType.TOOL_USE:
            waiting.append(part)
        elif part.type == PartType.TOOL_RESULT:
            waiting = [call for call in waiting if call.tool_call_id != part.tool_call_id]
        parts.append(part)
    if as_text(message.get("text")) and not any(part.text for part in parts):
        # Older exports have the text only; newer ones repeat the blocks in it.
        parts.insert(0, text_part(as_text(message["text"])))
    for attachment in as_list(message.get("attachments")):
        parts.append(
            block_part(PartType.DOCUMENT, attachment, provider_type="attachment", said_in="extracted_content")
        )
    files = as_list(message.get("files"))
    # Newer exports have them in both lists.
    files = [*files, *(file for file in as_list(message.get("files_v2")) if file not in files)]
    parts += [block_part(PartType.OTHER, file, provider_type="file") for file in files]
    return parts


def _part(block: object, waiting: Sequence[PartDraft], minted_id: str) -> PartDraft:
    if isinstance(block, str):
        return text_part(block)
    fields = as_dict(block)
    kind = as_text(fields.get("type"))
    if kind == "text" and isinstance(fields.get("text"), str):
        if not any(fields.get(extra) for extra in ("citations", "flags")):
            return text_part(as_text(fields["text"]))
        return block_part(PartType.TEXT, block, provider_type=kind, said_in="text")
    if kind == "thinking":
        return block_part(PartType.THINKING, block, provider_type=kind, said_in="thinking")
    if kind == "tool_use":
        return call_part(
            block, call_id=fields.get("id"), name=fields.get("name"), minted_id=minted_id, provider_type=kind
        )
    if kind == "tool_result":
        is_error = fields.get("is_error")
        return result_part(
            block,
            call_id=fields.get("tool_use_id"),
            minted_id=_answered(fields, waiting),
            is_error=is_error if isinstance(is_error, bool) else None,
            said_in="content",
            provider_type=kind,
        )
    said_in = "text" if isinstance(fields.get("text"), str) else ""
    return block_part(PartType.OTHER, block, provider_type=kind or "null", said_in=said_in)


def _answered(result: dict[str, object], waiting: Sequence[PartDraft]) -> str | None:
    """The call that a result without an id answers: the first that waits under its name, or the only one."""
    name = as_text(result.get("name"))
    named = [call.tool_call_id for call in waiting if call.tool_name == name]
    if named:
        return named[0]
    return waiting[0].tool_call_id if len(waiting) == 1 and not name else None
