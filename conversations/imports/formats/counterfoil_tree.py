"""Counterfoil's own export: whole trees as JSON lines, which come back as equal rows.

The writer is `services/exporting.py`; docs/imports.md describes the record.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from conversations.drafts import (
    ImportedConversation,
    ImportedNode,
    MessageDraft,
    PartDraft,
    StoredFacts,
    StoredHeadMove,
)
from conversations.imports.drafting import as_dict, as_list, as_text
from conversations.imports.reading import read_each, ref
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import (
    BranchReason,
    CallStatus,
    Dialect,
    HeadMoveReason,
    PartBytes,
    PartStatus,
    PartType,
    Role,
)
from conversations.wire.literals import is_storable

LABEL: Final = "Counterfoil trees"
VERSION: Final = 1


def sniff(records: Sequence[Record]) -> bool:
    return any(isinstance(value := record.value, dict) and "counterfoil_tree" in value for record in records)


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    return read_each(document, _conversation)


def _conversation(record: Record) -> ImportedConversation:
    value = as_dict(record.value)
    version = value.get("counterfoil_tree")
    if version != VERSION:
        raise UnreadableError(f"a tree of version {version}, and not {VERSION}")
    try:
        nodes = [_node(message) for message in as_list(value.get("messages"))]
        head = value.get("head")
        return ImportedConversation(
            external_ref=as_text(value.get("external_ref")) or ref("counterfoil", as_text(value.get("id"))),
            nodes=nodes,
            head_source_id=None if head is None else str(_integer(head)),
            title=_storable(value.get("title")),
            started_at=_moment(value.get("started_at")),
            parent_call_id=_storable(value.get("parent_call_id")),
            account_external_id=as_text(value.get("account")),
            dialect=next((facts.dialect for node in nodes if (facts := node.stored) and facts.dialect), None),
            head_moves=[_head_move(move) for move in as_list(value.get("head_moves"))],
        )
    except (KeyError, ValueError, TypeError) as error:
        raise UnreadableError(f"not a tree that this program wrote: {error}") from None


def _node(value: object) -> ImportedNode:
    message = as_dict(value)
    seq = _integer(message["seq"])
    parent = message.get("parent")
    parts = [_part(part) for part in as_list(message.get("parts"))]
    client_id = message.get("client_id")
    return ImportedNode(
        source_id=str(seq),
        parent_source_id=None if parent is None else str(_integer(parent)),
        message=MessageDraft(
            role=Role(as_text(message["role"])),
            parts=[part for part, _ in parts],
            provider_role=_storable(message.get("provider_role")),
            shell=_storable_or_none(message.get("shell")),
            client_message_id=_storable_or_none(client_id),
            token_count=None if message.get("tokens") is None else _integer(message["tokens"]),
            occurred_at=_moment(message.get("at")),
            is_hidden=message.get("hidden") is True,
        ),
        position=seq,
        stored=StoredFacts(
            seq=seq,
            branch_reason=BranchReason(as_text(message.get("branch_reason")) or BranchReason.CONTINUE),
            dialect=Dialect(as_text(message["dialect"])) if message.get("dialect") else None,
            lost={ordinal: state for ordinal, (_, state) in enumerate(parts) if state is not None},
            calls={
                _storable(call_id): _call(as_dict(call))
                for call_id, call in as_dict(message.get("calls")).items()
            },
        ),
    )


def _part(value: object) -> tuple[PartDraft, PartBytes | None]:
    part = as_dict(value)
    state = PartBytes(as_text(part.get("state")) or PartBytes.PRESENT)
    draft = PartDraft(
        type=PartType(as_text(part["type"])),
        text=_storable_or_none(part.get("text")),
        payload=_payload(part),
        shell=_storable_or_none(part.get("shell")),
        is_text_copy=part.get("text_copy") is True,
        provider_type=_storable(part.get("provider_type")),
        tool_call_id=_storable_or_none(part.get("call_id")),
        tool_name=_storable_or_none(part.get("tool")),
        status=PartStatus(as_text(part["status"])) if part.get("status") else None,
        orphan=part.get("orphan") is True,
        media_type=_storable(part.get("media_type")),
        is_minted_id=part.get("minted") is True,
    )
    return draft, None if state == PartBytes.PRESENT else state


def _payload(part: dict[str, object]) -> bytes | None:
    if "payload_base64" in part:
        try:
            return base64.b64decode(as_text(part["payload_base64"]), validate=True)
        except binascii.Error as error:
            raise ValueError(f"a payload that is no base64 ({error})") from None
    return as_text(part["payload"]).encode() if "payload" in part else None


def _call(call: dict[str, object]) -> tuple[CallStatus, str, int | None]:
    duration = call.get("duration_ms")
    return (
        CallStatus(as_text(call["status"])),
        _storable(call.get("error_code")),
        None if duration is None else _integer(duration),
    )


def _head_move(value: object) -> StoredHeadMove:
    move = as_dict(value)
    moved_at = _moment(move["at"])
    if moved_at is None:
        raise ValueError("a head move without a time")
    return StoredHeadMove(
        head_seq=_integer(move["head"]),
        moved_at=moved_at,
        moved_by_kind=_storable(move["by"]),
        moved_by_id=_storable(move.get("by_id")),
        reason=HeadMoveReason(as_text(move["reason"])),
    )


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    moment = datetime.fromisoformat(as_text(value))
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise ValueError(f"{value!r} is no number of this store")
    return value


def _storable(value: object) -> str:
    text = as_text(value)
    if not is_storable(text):
        raise ValueError("a text that the store cannot hold")
    return text


def _storable_or_none(value: object) -> str | None:
    return _storable(value) if isinstance(value, str) else None
