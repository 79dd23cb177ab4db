"""A dump of a flat table of messages, as CSV or JSON: chat, role, text, time.

Each chat becomes a line of messages, in order of time; a tree, where the table
names each row's parent by its id. What such a table once flattened (tool calls
pasted into texts) stays prose; the report says so.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft
from conversations.imports import exact_json
from conversations.imports.drafting import PARENT_NAMES, as_dict, as_text, moment_of, text_part
from conversations.imports.reading import quarantined, ref
from conversations.imports.spool import Spool
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken
from conversations.vocabulary import Role
from conversations.wire.literals import readable_copy

LABEL: Final = "flat table of messages"
_KEY: Final = "table"
_CHAT: Final = (
    "chat",
    "chat_id",
    "conversation",
    "conversation_id",
    "thread",
    "thread_id",
    "session",
    "session_id",
)
_ROLE: Final = ("role", "sender", "author", "speaker", "from")
_TEXT: Final = ("text", "content", "message", "body")
_TIME: Final = ("time", "timestamp", "created_at", "sent_at", "date", "created", "datetime", "created_date")
_ID: Final = ("id", "message_id", "msg_id")
_ACCOUNT: Final = ("account", "account_id", "user_id", "customer_id")
_ROLES: Final = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "human": Role.USER,
    "customer": Role.USER,
    "client": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "bot": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "agent": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
# What a flattened tool call tends to look like.
_FLATTENED = re.compile(
    r'^\s*(?:\[?tool[ _]?(?:call|result|use)|<tool_|<function_call|\{"(?:tool|name|function)")', re.IGNORECASE
)


_NO_TIME: Final = frozenset({"", "0", "0.0", "null", "NULL", "\\N"})
_MARKS: Final = re.compile(r"[\W_]+")
_FAR_PAST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column means what, by the names it goes by; time, id, parent and account may be absent."""

    chat: str
    role: str
    text: str
    time: str | None
    id: str | None
    parent: str | None
    account: str | None

    @staticmethod
    def of(value: object) -> "Columns | None":
        names = {_plain(key): key for key in reversed(as_dict(value))}
        chat, role, text = (_first(names, options) for options in (_CHAT, _ROLE, _TEXT))
        if chat is None or role is None or text is None:
            return None
        time, own_id, parent, account = (
            _first(names, options) for options in (_TIME, _ID, PARENT_NAMES, _ACCOUNT)
        )
        return Columns(chat, role, text, time, own_id, parent if own_id else None, account)

    def are_in(self, value: object) -> bool:
        return {self.chat, self.role, self.text} <= as_dict(value).keys()


def _plain(name: str) -> str:
    """A column's name however it is written: `chat_id`, `Chat ID` and `chatId` are one."""
    return _MARKS.sub("", name).lower()


def _first(names: dict[str, str], options: Sequence[str]) -> str | None:
    return next((names[_plain(option)] for option in options if _plain(option) in names), None)


def sniff(records: Sequence[Record]) -> bool:
    return any(_is_row(record.value) for record in records)


def _is_row(value: object) -> bool:
    columns = Columns.of(value)
    fields = as_dict(value)
    return columns is not None and all(
        not isinstance(fields[name], dict | list) for name in (columns.chat, columns.role, columns.text)
    )


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    """Yield the chats in the order in which they first appear; their rows may lie anywhere in the table."""
    columns: Columns | None = None
    with Spool() as spool:
        for record in document.records():
            # The columns of the first row that has them hold for the whole table.
            columns = columns or Columns.of(record.value)
            place = f"{document.name}, {record.place}"
            chat = "" if columns is None else _cell(as_dict(record.value).get(columns.chat))
            if record.trouble or columns is None or not chat or not columns.are_in(record.value):
                reason = record.trouble or ("a row of no chat" if not chat else "a row without its columns")
                yield Broken(place, reason, raw=record.raw)
            else:
                spool.put(chat, record.place, exact_json.dump(record.value))
        for chat in spool:
            if columns is not None:
                yield _conversation(document, chat, columns, list(spool.read(chat)))


def _cell(value: object) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def _conversation(
    document: Document, chat: str, columns: Columns, rows: list[tuple[str, bytes]]
) -> ImportedConversation:
    conversation = ImportedConversation(
        external_ref=ref(_KEY, chat),
        nodes=[],
        place=f"{document.name}, chat {readable_copy(chat[:80])}",
        raw=b"\n".join(raw for _, raw in rows),
    )
    read_rows = [_Row(raw, columns) for _, raw in rows]
    # The sort is stable: rows without a time stay behind the row that they follow in the table.
    latest = _FAR_PAST
    for row in read_rows:
        latest = row.sort_time = row.moment or latest
    read_rows.sort(key=lambda row: row.sort_time)
    nodes: list[ImportedNode] = []
    own_ids = {row.own_id for row in read_rows if row.own_id}
    is_tree = any(row.parent_id in own_ids for row in read_rows)
    for number, row in enumerate(read_rows, start=1):
        before = nodes[-1].source_id if nodes else None
        nodes.append(row.node(str(number), (row.parent_id or None) if is_tree else before))
    conversation.nodes = nodes
    conversation.started_at = next((row.moment for row in read_rows if row.moment), None)
    conversation.account_external_id = next((row.account for row in read_rows if row.account), "")
    undated = sum(1 for row in read_rows if row.has_odd_time)
    if undated:
        conversation.notes.append(f"{undated} times are in no form that we know; they stay unknown")
    flattened = sum(1 for row in read_rows if row.looks_flattened)
    if flattened:
        conversation.notes.append(f"{flattened} texts look like flattened tool calls; they stay prose")
    return conversation


class _Row:
    """One row of one chat, read again from where it was put aside."""

    def __init__(self, raw: bytes, columns: Columns) -> None:
        self.raw = raw
        fields = as_dict(exact_json.load(raw))
        self.role_name = _cell(fields[columns.role])
        self.text = fields[columns.text]
        time = fields.get(columns.time or "")
        self.moment = moment_of(time)
        # A zero stands for an unknown time, as nothing at all does.
        self.has_odd_time = self.moment is None and _cell(time) not in _NO_TIME
        self.sort_time = _FAR_PAST
        self.own_id = _cell(fields.get(columns.id or ""))
        self.parent_id = _cell(fields.get(columns.parent or ""))
        self.account = _cell(fields.get(columns.account or ""))

    @property
    def looks_flattened(self) -> bool:
        return isinstance(self.text, str) and _FLATTENED.match(self.text) is not None

    def node(self, number: str, parent: str | None) -> ImportedNode:
        source_id = self.own_id or number
        role = _ROLES.get(self.role_name.lower())
        if role is None or isinstance(self.text, dict | list):
            trouble = "a row without a role that we know" if role is None else "a row whose text is no text"
            return quarantined(source_id, parent, self.raw, trouble)
        name = readable_copy(self.role_name)[:64]
        return ImportedNode(
            source_id=source_id,
            parent_source_id=parent,
            message=MessageDraft(
                role=role,
                provider_role="" if name == role.value else name,
                parts=[] if self.text is None else [text_part(_said(self.text))],
                occurred_at=self.moment,
            ),
        )


def _said(text: object) -> str:
    return as_text(text) if isinstance(text, str) else exact_json.dump(text).decode("utf-8")
