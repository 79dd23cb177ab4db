"""Open WebUI: the list of chats that its export button gives, or single ones of it.

A chat's history is a map of messages; the oldest chats have a list only.
Newer assistant messages carry `output`, the items as they were produced; it is
preferred to `content`, which repeats them as prose mixed with HTML.
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
    gaps_between,
    id_of,
    minted_call_id,
    moment_of,
    parent_of,
    result_part,
    standing_below,
    text_part,
    title_of,
    unfold_turn,
)
from conversations.imports.reading import Beginnings, quarantined, read_each, ref
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import PartType, Role
from conversations.wire.literals import readable_copy

LABEL: Final = "Open WebUI export"
_OWN_ROLES: Final = frozenset(Role.values)
_KEY: Final = "open-webui"


def sniff(records: Sequence[Record]) -> bool:
    return any(
        _history(value) is not None or bool(_line_of(as_dict(value.get("chat")).get("messages")))
        for value in (as_dict(record.value) for record in records)
    )


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    beginnings = Beginnings(_KEY)
    return read_each(document, lambda record: _conversation(record, beginnings))


def _history(value: dict[str, object]) -> dict[str, object] | None:
    """The chat's history: inside `chat` in the list of all, at the top in a single chat."""
    for place in (as_dict(value.get("chat")), value):
        history = place.get("history")
        if isinstance(history, dict) and isinstance(history.get("messages"), dict):
            return history
    return None


def _conversation(record: Record, beginnings: Beginnings) -> ImportedConversation:
    value = as_dict(record.value)
    chat = as_dict(value.get("chat")) or value
    history = _history(value)
    key = id_of(value.get("id"))
    messages = as_dict(as_dict(history).get("messages"))
    # A chat whose history is empty may still have what was said in its list.
    as_line = {} if messages else _line_of(chat.get("messages"))
    if history is None and not as_line:
        place = f"chat {readable_copy(key[:80])}" if key else ""
        raise UnreadableError("a chat without a history of messages", place=place)
    messages = messages or as_line
    models = [model for model in as_list(chat.get("models")) if isinstance(model, str)]
    conversation = ImportedConversation(
        external_ref=ref(_KEY, key) if key else beginnings.key(*_beginning(messages)),
        nodes=[],
        head_source_id=None if as_line else id_of(as_dict(history).get("currentId")) or None,
        title=title_of(value.get("title")) or title_of(chat.get("title")),
        started_at=moment_of(value.get("created_at")) or moment_of(chat.get("timestamp")),
        updated_at=moment_of(value.get("updated_at")),
        model=models[0] if models else "",
        account_external_id=as_text(value.get("user_id")),
    )
    if as_line:
        conversation.notes.append("the chat has a list of messages and no history; taken as a line")
    standing = standing_below(messages, "childrenIds")
    nodes: list[ImportedNode] = []
    for source_id, message in messages.items():
        nodes += _nodes(source_id, message, standing.get(source_id), conversation)
    conversation.nodes = [*nodes, *gaps_between(nodes, standing, conversation.notes)]
    return conversation


def _line_of(listed: object) -> dict[str, object]:
    """A chat's list of messages by id, each below the one before."""
    line: dict[str, object] = {}
    before: str | None = None
    for number, message in enumerate(as_list(listed), start=1):
        source_id = id_of(as_dict(message).get("id")) or f"message-{number}"
        # Two of one id would hide each other in a map.
        source_id = f"{source_id}~{number}" if source_id in line else source_id
        line[source_id] = {**message, "parentId": before} if isinstance(message, dict) else message
        before = source_id
    return line


def _beginning(messages: dict[str, object]) -> list[object]:
    """What began a chat without an id of its own: single chats number their nodes alike."""
    first = as_dict(messages.get(min(messages, default="")))
    return [first.get("role"), first.get("content"), first.get("timestamp")]


def _nodes(
    source_id: str, value: object, standing: tuple[str, int] | None, conversation: ImportedConversation
) -> Iterator[ImportedNode]:
    message = as_dict(value)
    parent = parent_of(value, "parentId", standing)
    role_name = as_text(message.get("role"))
    if role_name not in _OWN_ROLES:
        error = as_dict(message.get("error"))
        reason = (
            f"no message but an error ({title_of(error.get('code'))})"
            if error
            else "a message without a role"
        )
        yield quarantined(source_id, parent, exact_json.dump(value), reason)
        return
    role = Role(role_name)
    node = ImportedNode(
        source_id=source_id,
        parent_source_id=parent,
        message=None,
        model=(as_text(message.get("model")) or conversation.model) if role == Role.ASSISTANT else "",
        ending=ending_of(
            None, is_unfinished=message.get("done") is False, is_error=bool(message.get("error"))
        ),
        position=standing[1] if standing else None,
    )
    parts = _parts(source_id, message)
    if message.get("error"):
        parts.append(block_part(PartType.OTHER, message["error"], provider_type="error", said_in="content"))
    if message.get("merged"):
        # What one more model made of the answers that stand side by side.
        parts.append(block_part(PartType.OTHER, message["merged"], provider_type="merged", said_in="content"))
    for file in as_list(message.get("files")):
        parts.append(block_part(PartType.OTHER, file, provider_type="file"))
    if message.get("done") is False:
        conversation.notes.append(f"message {source_id} was not finished")
    yield from unfold_turn(parts, node=node, role=role, occurred_at=moment_of(message.get("timestamp")))


def _parts(source_id: str, message: dict[str, object]) -> list[PartDraft]:
    items = as_list(message.get("output"))
    if items:
        parts = [
            part
            for number, item in enumerate(items, start=1)
            for part in _item_parts(item, minted_call_id(source_id, number))
        ]
        if parts:
            return parts
    content = message.get("content")
    if isinstance(content, str):
        return [text_part(content)]
    parts = []
    for block in content if isinstance(content, list) else [content] if content is not None else []:
        fields = as_dict(block)
        if fields.get("type") == "text" and isinstance(fields.get("text"), str):
            parts.append(text_part(as_text(fields["text"])))
        elif fields.get("type") == "image_url":
            parts.append(block_part(PartType.IMAGE, block, provider_type="image_url"))
        else:
            parts.append(block_part(PartType.OTHER, block, provider_type=as_text(fields.get("type"))))
    return parts


def _item_parts(item: object, minted_id: str) -> list[PartDraft]:
    fields = as_dict(item)
    kind = as_text(fields.get("type"))
    if kind == "message":
        return [_said(block) for block in as_list(fields.get("content"))]
    if kind == "function_call":
        return [
            call_part(
                item,
                call_id=fields.get("call_id") or fields.get("id"),
                name=fields.get("name"),
                minted_id=minted_id,
                provider_type=kind,
            )
        ]
    if kind == "function_call_output":
        said_in = "output" if isinstance(fields.get("output"), str) else ""
        return [result_part(item, call_id=fields.get("call_id"), said_in=said_in, provider_type=kind)]
    if kind == "reasoning":
        return [block_part(PartType.THINKING, item, provider_type=kind)]
    return [block_part(PartType.OTHER, item, provider_type=kind or "null")]


def _said(block: object) -> PartDraft:
    fields = as_dict(block)
    if fields.get("type") in ("output_text", "text") and isinstance(fields.get("text"), str):
        return text_part(as_text(fields["text"]))
    return block_part(PartType.OTHER, block, provider_type=as_text(fields.get("type")))
