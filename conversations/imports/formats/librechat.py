"""LibreChat: one conversation a file, as a list or as a tree of nested children.

`sender` is a label that people may change; `isCreatedByUser` is the role.
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

LABEL: Final = "LibreChat export"
_KEY: Final = "librechat"
_ROOT: Final = "00000000-0000-0000-0000-000000000000"


def sniff(records: Sequence[Record]) -> bool:
    return any(
        isinstance(value := record.value, dict)
        and "conversationId" in value
        and (isinstance(value.get("messages"), list) or isinstance(value.get("messagesTree"), list))
        for record in records
    )


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    beginnings = Beginnings(_KEY)
    return read_each(document, lambda record: _conversation(record, beginnings))


def _conversation(record: Record, beginnings: Beginnings) -> ImportedConversation:
    value = as_dict(record.value)
    lists = (value.get("messagesTree"), value.get("messages"))
    listed = next((one for one in lists if isinstance(one, list)), None)
    if listed is None:
        raise UnreadableError("a conversation without a list of messages")
    key = id_of(value.get("conversationId"))
    conversation = ImportedConversation(
        external_ref=ref(_KEY, key)
        if key
        else beginnings.key(value.get("title"), [_alone(message) for message in listed[:1]]),
        nodes=[],
        title=title_of(value.get("title")),
        model=as_text(as_dict(value.get("options")).get("model")),
    )
    nodes: list[ImportedNode] = []
    for number, (message, parent, place) in enumerate(_flat(listed), start=1):
        nodes += _nodes(number, message, parent, place, conversation)
    conversation.nodes = nodes
    conversation.started_at = min(
        (node.message.occurred_at for node in nodes if node.message and node.message.occurred_at),
        default=None,
    )
    return conversation


def _flat(listed: list[object]) -> Iterator[tuple[object, str | None, int]]:
    """Walk the messages and their nested children without recursion: a chat is as deep as it is long."""
    waiting: list[tuple[object, str | None, int]] = [
        (message, None, place) for place, message in reversed(list(enumerate(listed)))
    ]
    while waiting:
        message, parent, place = waiting.pop()
        fields = as_dict(message)
        stated = id_of(fields.get("parentMessageId"))
        yield message, stated if stated not in ("", _ROOT) else parent, place
        own_id = id_of(fields.get("messageId")) or parent
        children = as_list(fields.get("children"))
        waiting += [(child, own_id, index) for index, child in reversed(list(enumerate(children)))]


def _alone(value: object) -> object:
    """A message without those that are nested in it."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if key != "children"}


def _nodes(
    number: int, value: object, parent: str | None, place: int, conversation: ImportedConversation
) -> Iterator[ImportedNode]:
    message = as_dict(value)
    source_id = id_of(message.get("messageId")) or f"message-{number}"
    is_user = message.get("isCreatedByUser")
    if not isinstance(is_user, bool):
        yield quarantined(
            source_id, parent, exact_json.dump(_alone(value)), "a message that does not say whose it is"
        )
        return
    node = ImportedNode(
        source_id=source_id,
        parent_source_id=parent,
        message=None,
        model="" if is_user else as_text(message.get("model")) or conversation.model,
        ending=ending_of(
            message.get("finish_reason"),
            is_unfinished=message.get("unfinished") is True,
            is_error=message.get("error") is True,
        ),
        position=place,
    )
    if message.get("unfinished") is True:
        conversation.notes.append(f"message {source_id} was not finished")
    if message.get("error") is True:
        conversation.notes.append(f"message {source_id} is an error that was shown")
    pieces = list(
        unfold_turn(
            _parts(source_id, message),
            node=node,
            role=Role.USER if is_user else Role.ASSISTANT,
            occurred_at=moment_of(message.get("createdAt")),
        )
    )
    tokens = message.get("tokenCount")
    said = pieces[0].message if len(pieces) == 1 else None
    if said is not None and isinstance(tokens, int) and not isinstance(tokens, bool) and 0 <= tokens < 2**31:
        said.token_count = tokens
    yield from pieces


def _parts(source_id: str, message: dict[str, object]) -> list[PartDraft]:
    blocks = as_list(message.get("content"))
    parts = [
        part
        for number, block in enumerate(blocks, start=1)
        for part in _block_parts(block, minted_call_id(source_id, number))
    ]
    text = message.get("text")
    if (
        isinstance(text, str)
        and (text or not parts)
        and not any(part.type == PartType.TEXT for part in parts)
    ):
        parts.append(text_part(text))
    for field in ("files", "attachments"):
        parts += [
            block_part(PartType.OTHER, file, provider_type="file") for file in as_list(message.get(field))
        ]
    return parts


def _block_parts(block: object, minted_id: str) -> Iterator[PartDraft]:
    fields = as_dict(block)
    kind = as_text(fields.get("type"))
    if kind == "text":
        text = fields.get("text")
        said = text if isinstance(text, str) else as_dict(text).get("value")
        if isinstance(said, str):
            yield text_part(said)
            return
    if kind == "think":
        yield block_part(PartType.THINKING, block, provider_type=kind, said_in="think")
        return
    if kind == "tool_call" and isinstance(fields.get("tool_call"), dict):
        yield from _call_and_result(fields["tool_call"], minted_id)
        return
    part_type = PartType.IMAGE if kind in ("image_url", "image_file") else PartType.OTHER
    yield block_part(part_type, block, provider_type=kind or "null", said_in="error")


def _call_and_result(block: object, minted_id: str) -> Iterator[PartDraft]:
    """One block holds the call and, once there is one, its output."""
    fields = as_dict(block)
    function = as_dict(fields.get("function"))
    output = fields.get("output", function.get("output"))
    asked = {key: value for key, value in fields.items() if key not in ("output", "progress")}
    call = call_part(
        asked,
        call_id=fields.get("id"),
        name=fields.get("name") or function.get("name"),
        minted_id=minted_id,
        provider_type="tool_call",
    )
    yield call
    if output is not None:
        answer = {"id": fields.get("id"), "output": output}
        said_in = "output" if isinstance(output, str) else ""
        result = result_part(answer, call_id=call.tool_call_id, said_in=said_in, provider_type="tool_call")
        result.is_minted_id = call.is_minted_id
        yield result
