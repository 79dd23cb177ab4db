"""Conversations out again: whole trees that import to equal rows, or bodies ready to be sent.

Everything is read and written conversation by conversation, by ascending id,
so a selection of any size streams.
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import QuerySet

from conversations.drafts import MessageDraft, PartDraft
from conversations.imports.formats.counterfoil_tree import VERSION
from conversations.models import Account, Conversation, Generation, HeadMove, Message, MessagePart, ToolCall
from conversations.reads.path import StoredMessage, read_messages
from conversations.replay import NotReplayableError, ReplayError, next_body_at, request_body_of
from conversations.vocabulary import CallStatus, Dialect, PartBytes

_BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class ExportFailure:
    """A conversation or an attempt that could not be exported, and why."""

    place: str
    reason: str


def select_conversations(
    *,
    realm_slug: str = "",
    account: str = "",
    source: str = "",
    since: datetime | None = None,
    until: datetime | None = None,
    ids: Sequence[UUID] = (),
) -> QuerySet[Conversation]:
    """Return the conversations of a selection; `since` and `until` speak of their last activity."""
    found = Conversation.objects.all()
    if realm_slug:
        found = found.filter(account__realm__slug=realm_slug)
    if account:
        found = found.filter(account__external_id=account)
    if source:
        found = found.filter(source=source)
    if since is not None:
        found = found.filter(last_activity_at__gte=since)
    if until is not None:
        found = found.filter(last_activity_at__lt=until)
    return found.filter(pk__in=ids) if ids else found


def export_trees(selection: QuerySet[Conversation]) -> Iterator[bytes]:
    """Yield a line for each conversation: its messages, parts, calls and head log."""
    for conversation in _each(selection):
        yield orjson.dumps(_tree(conversation)) + b"\n"


def export_next_bodies(
    selection: QuerySet[Conversation], *, dialect: Dialect | None = None, model: str = ""
) -> Iterator[bytes | ExportFailure]:
    """Yield a line for each conversation with the body that going on from its head would send."""
    for conversation in _each(selection):
        if conversation.head_seq is None:
            yield ExportFailure(str(conversation.pk), "a conversation without messages")
            continue
        try:
            made = next_body_at(
                conversation_id=conversation.pk, leaf_seq=conversation.head_seq, dialect=dialect, model=model
            )
        except ReplayError as error:
            yield ExportFailure(str(conversation.pk), str(error))
            continue
        yield _line(
            conversation,
            leaf_seq=conversation.head_seq,
            dialect=made.dialect,
            body=made.body,
            breaks=[f"{one.place}: {one.explanation}" for one in made.violations],
        )


def export_sent_bodies(selection: QuerySet[Conversation]) -> Iterator[bytes | ExportFailure]:
    """Yield a line for each recorded attempt with the very bytes that were sent."""
    for conversation in _each(selection):
        attempts = Generation.objects.filter(conversation_id=conversation.pk).order_by("number")
        for number, dialect, leaf_seq in attempts.values_list("number", "dialect", "leaf_seq"):
            try:
                body = request_body_of(conversation_id=conversation.pk, number=number)
            except (ReplayError, NotReplayableError) as error:
                yield ExportFailure(f"{conversation.pk} attempt {number}", str(error))
                continue
            yield _line(conversation, leaf_seq=leaf_seq, dialect=dialect, body=body, attempt=number)


def _each(selection: QuerySet[Conversation]) -> Iterator[Conversation]:
    """Walk a selection by key, a batch at a time: no cursor is held open, and nothing is counted."""
    after: UUID | None = None
    while True:
        page = selection if after is None else selection.filter(pk__gt=after)
        batch = list(page.order_by("pk")[:_BATCH])
        yield from batch
        if len(batch) < _BATCH:
            return
        after = batch[-1].pk


def _line(conversation: Conversation, *, body: bytes, **fields: Any) -> bytes:
    record: dict[str, Any] = {"conversation": conversation.pk, **fields}
    try:
        record["body"] = body.decode("utf-8")
    except UnicodeDecodeError:
        record["body_base64"] = base64.b64encode(body).decode("ascii")
    return orjson.dumps(record) + b"\n"


def _tree(conversation: Conversation) -> dict[str, Any]:
    account = Account.objects.values_list("external_id", flat=True).get(pk=conversation.account_id)
    messages = read_messages(conversation_id=conversation.pk, seqs=range(1, conversation.next_seq))
    reasons = dict(Message.objects.filter(conversation=conversation).values_list("seq", "branch_reason"))
    states = _states(conversation.pk)
    calls = _calls(conversation.pk)
    record = {
        "counterfoil_tree": VERSION,
        "id": conversation.pk,
        "account": account,
        "title": conversation.title,
        "external_ref": conversation.external_ref,
        "parent_call_id": conversation.parent_call_id,
        "started_at": conversation.started_at,
        "head": conversation.head_seq,
    }
    return {
        **_without_blanks(record),
        "messages": [
            _message(one, reasons[one.seq], states.get(one.seq, {}), calls.get(one.seq, {}))
            for one in messages
        ],
        "head_moves": _head_moves(conversation.pk),
    }


def _states(conversation_id: UUID) -> dict[int, dict[int, str]]:
    found: dict[int, dict[int, str]] = {}
    parts = MessagePart.objects.filter(conversation_id=conversation_id).exclude(bytes_state=PartBytes.PRESENT)
    for seq, ordinal, state in parts.values_list("seq", "ordinal", "bytes_state"):
        found.setdefault(seq, {})[ordinal] = state
    return found


def _calls(conversation_id: UUID) -> dict[int, dict[str, dict[str, Any]]]:
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for call in ToolCall.objects.filter(conversation_id=conversation_id).order_by("seq", "call_id"):
        if call.status == CallStatus.REQUESTED and not call.error_code and call.duration_ms is None:
            continue
        life = {"status": call.status, "error_code": call.error_code, "duration_ms": call.duration_ms}
        found.setdefault(call.seq, {})[call.call_id] = _without_blanks(life)
    return found


def _head_moves(conversation_id: UUID) -> list[dict[str, Any]]:
    moves = HeadMove.objects.filter(conversation_id=conversation_id).order_by("number")
    return [
        _without_blanks(
            {
                "head": move.head_seq,
                "at": move.moved_at,
                "by": move.moved_by_kind,
                "by_id": move.moved_by_id,
                "reason": move.reason,
            }
        )
        for move in moves
    ]


def _message(
    one: StoredMessage, reason: str, states: dict[int, str], calls: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    draft: MessageDraft = one.draft
    record = {
        "seq": one.seq,
        "parent": one.parent_seq,
        "role": draft.role,
        "provider_role": draft.provider_role,
        "dialect": one.dialect,
        "shell": draft.shell,
        "branch_reason": reason,
        "hidden": draft.is_hidden,
        "client_id": draft.client_message_id,
        "tokens": draft.token_count,
        "at": draft.occurred_at,
        "calls": calls,
    }
    # What was opened in the archive leaves with its bytes, in the state that they were archived in.
    opened = {ordinal: "" if state == PartBytes.PRESENT else state for ordinal, state in one.archived.items()}
    states = {**states, **opened}
    parts = [_part(part, states.get(ordinal, "")) for ordinal, part in enumerate(draft.parts)]
    return {**_without_blanks(record), "parts": parts}


def _part(part: PartDraft, state: str) -> dict[str, Any]:
    record = {
        "type": part.type,
        "provider_type": part.provider_type,
        "shell": part.shell,
        "text_copy": part.is_text_copy,
        "media_type": part.media_type,
        "call_id": part.tool_call_id,
        "tool": part.tool_name,
        "minted": part.is_minted_id,
        "status": part.status,
        "orphan": part.orphan,
        "state": state,
    }
    found = _without_blanks(record)
    if part.text is not None:
        found["text"] = part.text
    if part.payload is not None:
        try:
            found["payload"] = part.payload.decode("utf-8")
        except UnicodeDecodeError:
            found["payload_base64"] = base64.b64encode(part.payload).decode("ascii")
    return found


def _without_blanks(record: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not set: the reader knows the same defaults. Zero is a value."""
    return {key: value for key, value in record.items() if value not in ("", None, False, {})}
