"""Dialogues in OpenAI's chat form: lists of messages, alone or as a member of a record.

Lines of fine-tuning files, lists dumped by applications, and tau-bench, whose
records hold the messages as `traj`. Lists with Anthropic's blocks of calls and
results are read as those. They can be replayed as they ran.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft
from conversations.imports.dialects import Unreadable, draft_chat_record
from conversations.imports.drafting import as_dict, as_list, as_text, moment_of, title_of
from conversations.imports.reading import digest_ref, quarantined, read_each, ref
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import Role
from conversations.wire.shapes import WireError

LABEL: Final = "OpenAI-style dialogues"
_KEY: Final = "openai"
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_LISTS: Final = ("messages", "traj", "conversation")
# Beside these members a message belongs to some other program's format.
_FOREIGN: Final = frozenset(
    {"blocks", "message_type", "message_id", "messageId", "turn_idx", "thought", "parts"}
)
# So many first records must be messages for a file to be one dialogue; later ones may be broken.
_TOLD_BY: Final = 24
# A list as long as this is split from one file into one conversation in memory at most.
_MAX_SINGLE: Final = 200_000


def sniff(records: Sequence[Record]) -> bool:
    if _is_one_dialogue(records):
        return True
    return any(_list_of(record.value) is not None for record in records)


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    """Yield each record's dialogue, or the one that a file of single messages is."""
    if _is_one_dialogue(document.sample()):
        yield from _read_one(document)
        return
    occurrences: dict[str, int] = {}
    yield from read_each(document, lambda record: _conversation(record, occurrences))


def is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and as_text(value.get("role")) in _ROLES
        and isinstance(value.get("content"), str | list | None)
        and ("content" in value or "tool_calls" in value or "function_call" in value)
        and not _FOREIGN & value.keys()
    )


def _is_one_dialogue(records: Sequence[Record]) -> bool:
    values = [record.value for record in records[:_TOLD_BY] if not record.trouble]
    return (
        bool(values)
        and all(is_message(value) and len(as_dict(value)) <= 8 for value in values)
        and not any(
            key in as_dict(value)
            for value in values
            for key in ("chat", "chat_id", "conversation_id", "session_id")
        )
    )


def _list_of(value: object) -> str | None:
    """Name the member that holds the messages; empty where the record itself is the list."""
    if isinstance(value, list):
        return "" if _are_messages(value) else None
    fields = as_dict(value)
    if "conversationId" in fields or "schema_version" in fields:
        return None
    for name in _LISTS:
        listed = fields.get(name)
        if isinstance(listed, list) and _are_messages(listed):
            return name
    return None


def _are_messages(items: list[object]) -> bool:
    """Whether a list begins with messages; some of its items may be broken."""
    first = items[:5]
    return any(is_message(item) for item in first) and not any(
        _FOREIGN & as_dict(item).keys() for item in first
    )


def _conversation(record: Record, occurrences: dict[str, int]) -> ImportedConversation:
    try:
        cut = draft_chat_record(record.raw, keys=_LISTS)
    except WireError as error:
        raise UnreadableError(error.reason, place=error.place) from None
    fields = cut.fields
    key = as_text(fields.get("id")) or as_text(fields.get("conversation_id"))
    conversation = ImportedConversation(
        external_ref=ref(_KEY, key) if key else digest_ref(_KEY, record.raw, occurrences),
        nodes=_nodes(cut.drafts, cut.links, model=as_text(fields.get("model"))),
        title=title_of(fields.get("title")),
        started_at=moment_of(fields.get("created_at")) or moment_of(fields.get("timestamp")),
        model=as_text(fields.get("model")),
        account_external_id=as_text(fields.get("user")),
        dialect=cut.dialect,
    )
    if not cut.drafts:
        conversation.notes.append("a dialogue without messages")
    if fields.get("system"):
        conversation.notes.append("the system prompt beside the messages is kept with the raw record")
    if isinstance(fields.get("tools"), list):
        conversation.notes.append(
            f"{len(as_list(fields['tools']))} tool declarations are kept with the raw record"
        )
    return conversation


def _nodes(
    drafts: Sequence[MessageDraft | Unreadable], links: Sequence[tuple[str, str]] | None, *, model: str
) -> list[ImportedNode]:
    """Hang the messages as they name one another, else as a line."""
    nodes: list[ImportedNode] = []
    before: str | None = None
    for number, draft in enumerate(drafts, start=1):
        own_id, named = links[number - 1] if links else ("", before)
        source_id, parent = own_id or str(number), named or None
        if isinstance(draft, Unreadable):
            nodes.append(quarantined(source_id, parent, draft.raw, draft.reason))
        else:
            said_by = model if draft.role == Role.ASSISTANT else ""
            nodes.append(ImportedNode(source_id, parent, message=draft, model=said_by))
        before = source_id
    return nodes


def _read_one(document: Document) -> Iterator[ImportedConversation | Broken]:
    items: list[bytes] = []
    broken: list[Broken] = []
    for record in document.records():
        if record.trouble:
            broken.append(Broken(f"{document.name}, {record.place}", record.trouble, raw=record.raw))
        else:
            items.append(record.raw)
        if len(items) > _MAX_SINGLE:
            yield Broken(document.name, f"one dialogue of more than {_MAX_SINGLE} messages")
            return
    raw = b"[" + b",".join(items) + b"]"
    whole = Record("the whole file", raw)
    try:
        conversation = _conversation(whole, {})
    except UnreadableError as trouble:
        yield Broken(document.name, trouble.reason, raw=raw)
        return
    conversation.place, conversation.raw = document.name, raw
    yield conversation
    yield from broken
