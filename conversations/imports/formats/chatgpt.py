"""ChatGPT's data export: `conversations.json`, one file or several, alone or in the zip.

A conversation is a map of nodes. There are no call ids: an assistant message
with a recipient other than `all` is a call, and the tool message that follows
it is its result, so ids are minted from the calling node.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft, PartDraft
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
)
from conversations.imports.reading import Beginnings, quarantined, read_each, ref
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import GenerationStatus, PartType, Role
from conversations.wire.literals import readable_copy

LABEL: Final = "ChatGPT export"
_KEY: Final = "chatgpt"
_OWN_ROLES: Final = frozenset(Role.values)
_ROLES: Final = {
    "system": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
    "developer": Role.DEVELOPER,
}
# The member of each kind of content that holds what a person reads.
_SAID_IN: Final = {
    "code": "text",
    "execution_output": "text",
    "tether_quote": "text",
    "tether_browsing_display": "result",
    "reasoning_recap": "content",
    "system_error": "text",
    "user_editable_context": "user_instructions",
}
# What stands beside a conversation's nodes; an empty one has nothing else to be known by.
_BESIDE: Final = frozenset({"title", "create_time", "current_node"})
_THINKING: Final = frozenset({"thoughts", "reasoning_recap"})


def sniff(records: Sequence[Record]) -> bool:
    return any(
        isinstance(value := record.value, dict)
        and isinstance(mapping := value.get("mapping"), dict)
        and (bool(_BESIDE & value.keys()) or any("message" in as_dict(node) for node in mapping.values()))
        for record in records
    )


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    beginnings = Beginnings(_KEY)
    return read_each(document, lambda record: _conversation(record, document.beside, beginnings))


def _conversation(record: Record, beside: frozenset[str], beginnings: Beginnings) -> ImportedConversation:
    value = as_dict(record.value)
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        raise UnreadableError("a conversation without a mapping of nodes", place=_named(value))
    source_key = id_of(value.get("conversation_id")) or id_of(value.get("id"))
    conversation = ImportedConversation(
        external_ref=ref(_KEY, source_key)
        if source_key
        else beginnings.key(value.get("title"), value.get("create_time"), _first_messages(mapping)),
        nodes=[],
        head_source_id=id_of(value.get("current_node")) or None,
        title=title_of(value.get("title")),
        started_at=moment_of(value.get("create_time")),
        updated_at=moment_of(value.get("update_time")),
        model=as_text(value.get("default_model_slug")),
    )
    standing = standing_below(mapping, "children")
    nodes = [
        _node(str(node_id), node, standing.get(str(node_id)), conversation, beside)
        for node_id, node in mapping.items()
    ]
    if not any(node.parent_source_id for node in nodes) and not standing and len(nodes) > 1:
        conversation.notes.append(
            "the nodes name neither parents nor children; taken as a line, in file order"
        )
        for before, node in pairwise(nodes):
            node.parent_source_id = before.source_id
    nodes += gaps_between(nodes, standing, conversation.notes)
    _pair_by_adjacency(nodes, conversation)
    conversation.nodes = nodes
    return conversation


def _named(value: dict[str, object]) -> str:
    """By its id and not by its title, which is what somebody said: places are kept with the run."""
    key = id_of(value.get("conversation_id")) or id_of(value.get("id"))
    return f"conversation {readable_copy(key[:80])}" if key else ""


def _first_messages(mapping: dict[str, object]) -> list[object]:
    """The messages that no other stands above, whatever the order of the nodes."""
    children: dict[str, list[str]] = {}
    for node_id, node in mapping.items():
        children.setdefault(id_of(as_dict(node).get("parent")), []).append(node_id)
    waiting = [node_id for parent, ids in children.items() if parent not in mapping for node_id in ids]
    first: dict[str, object] = {}
    while waiting:
        node_id = waiting.pop()
        message = as_dict(as_dict(mapping[node_id]).get("message"))
        if message:
            first[node_id] = [message.get("author"), message.get("content"), message.get("create_time")]
        else:
            waiting += children.get(node_id, [])
    return [[node_id, first[node_id]] for node_id in sorted(first)]


def _node(
    node_id: str,
    value: object,
    standing: tuple[str, int] | None,
    conversation: ImportedConversation,
    beside: frozenset[str],
) -> ImportedNode:
    node = as_dict(value)
    parent = parent_of(value, "parent", standing)
    position = standing[1] if standing else None
    message = node.get("message")
    if isinstance(value, dict) and message is None and ("parent" in node or "children" in node or not node):
        return ImportedNode(source_id=node_id, parent_source_id=parent, message=None, position=position)
    role_name = as_text(as_dict(as_dict(message).get("author")).get("role"))
    content = as_dict(message).get("content")
    if not isinstance(message, dict) or not role_name:
        return quarantined(node_id, parent, exact_json.dump(value), "a node without a role")
    metadata = as_dict(message.get("metadata"))
    draft = MessageDraft(
        role=_ROLES.get(role_name, Role.USER),
        provider_role="" if role_name in _OWN_ROLES else title_of(role_name)[:64],
        parts=_parts(content, conversation, beside),
        occurred_at=moment_of(message.get("create_time")),
    )
    recipient = as_text(message.get("recipient"))
    if draft.role == Role.ASSISTANT and _is_tool(recipient):
        draft.parts = [_call(node_id, recipient, content)]
    return ImportedNode(
        source_id=node_id,
        parent_source_id=parent,
        message=draft,
        raw=None,
        model=as_text(metadata.get("model_slug")) or conversation.model,
        ending=_ending(message, metadata),
        is_hidden=_is_hidden(metadata, content, draft),
        position=position,
    )


def _ending(message: dict[str, object], metadata: dict[str, object]) -> GenerationStatus:
    is_unfinished = (
        as_text(message.get("status")) in ("in_progress", "finished_partial_completion")
        or metadata.get("is_complete") is False
    )
    return ending_of(as_dict(metadata.get("finish_details")).get("type"), is_unfinished=is_unfinished)


def _is_tool(recipient: str) -> bool:
    return recipient not in ("", "all", "assistant", "user")


def _is_hidden(metadata: dict[str, object], content: object, draft: MessageDraft) -> bool:
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or metadata.get("is_user_system_message") is True
        or as_dict(content).get("content_type") == "user_editable_context"
        or (draft.role == Role.SYSTEM and not any(part.text and part.text.strip() for part in draft.parts))
    )


def _parts(content: object, conversation: ImportedConversation, beside: frozenset[str]) -> list[PartDraft]:
    if isinstance(content, str):
        return [text_part(content)]
    block = as_dict(content)
    kind = as_text(block.get("content_type"))
    pieces = block.get("parts")
    is_plain = kind in ("", "text", "multimodal_text") or set(block) <= {"content_type", "parts"}
    if not (isinstance(pieces, list) and is_plain) or kind in _THINKING:
        part_type = PartType.THINKING if kind in _THINKING else PartType.OTHER
        if kind == "user_editable_context":
            return [_profile(block)]
        said_in = _SAID_IN.get(kind, "text" if isinstance(block.get("text"), str) else "")
        return [block_part(part_type, content, provider_type=kind, said_in=said_in)]
    return [_piece(piece, conversation, beside) for piece in as_list(pieces)]


def _profile(block: dict[str, object]) -> PartDraft:
    """The customer's own profile and instructions, which are sent with every request."""
    said_in = "user_instructions" if block.get("user_instructions") else "user_profile"
    return block_part(PartType.OTHER, block, provider_type="user_editable_context", said_in=said_in)


def _piece(piece: object, conversation: ImportedConversation, beside: frozenset[str]) -> PartDraft:
    if isinstance(piece, str):
        return text_part(piece)
    block = as_dict(piece)
    kind = as_text(block.get("content_type"))
    if kind != "image_asset_pointer":
        return block_part(PartType.OTHER, piece, provider_type=kind or "null", said_in="text")
    pointer = as_text(block.get("asset_pointer"))
    asset = pointer.partition("://")[2]
    name = _asset_beside(asset, beside)
    if name:
        note = f"asset {title_of(name)[:120]} stays in the archive; the pointer to it is kept"
    else:
        note = f"asset missing: {title_of(pointer)[:120] or 'an image without a pointer'}"
    conversation.notes.append(note)
    return block_part(PartType.IMAGE, piece, provider_type=kind)


def _asset_beside(asset: str, beside: frozenset[str]) -> str:
    """The archive's file that a pointer means: its name begins with the pointer's id."""
    names = _names_in_order(beside)
    place = bisect_left(names, asset)
    return names[place] if asset and place < len(names) and names[place].startswith(asset) else ""


@lru_cache(maxsize=2)
def _names_in_order(beside: frozenset[str]) -> list[str]:
    return sorted(name.rpartition("/")[2] for name in beside)


def _call(node_id: str, recipient: str, content: object) -> PartDraft:
    return call_part(
        content,
        call_id=None,
        name=recipient,
        minted_id=minted_call_id(node_id, 1),
        provider_type=as_text(as_dict(content).get("content_type")),
    )


def _pair_by_adjacency(nodes: Sequence[ImportedNode], conversation: ImportedConversation) -> None:
    """A tool message answers the call right above it. Further ones below it are kept as what they say."""
    by_id = {node.source_id: node.message for node in nodes}
    paired = further = 0
    for node in nodes:
        if node.message is None or node.message.role != Role.TOOL:
            continue
        above = by_id.get(node.parent_source_id or "")
        call = next(above.calls(), None) if above is not None else None
        if call is None:
            further += 1
            continue
        paired += 1
        node.message.parts = _as_results(node.message.parts, call)
    if paired:
        conversation.notes.append(f"{paired} results paired with their calls by place; the ids are ours")
    if further:
        conversation.notes.append(f"{further} tool messages follow no call; kept as tool messages")


def _as_results(parts: list[PartDraft], call: PartDraft) -> list[PartDraft]:
    """The first part becomes the result that the call gets; a tool message without parts says nothing."""
    result = parts[0] if parts else result_part(None, call_id=None)
    result.type = PartType.TOOL_RESULT
    result.tool_call_id, result.is_minted_id = call.tool_call_id, True
    return [result, *parts[1:]]
