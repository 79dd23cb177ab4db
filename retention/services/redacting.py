"""Redaction on demand: secrets that are stored already are cut, in place, for good."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction

from access.actors import Actor, ActorKind
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.models import Conversation, MessagePart, RedactionSpan
from conversations.redaction.cutting import cut_body, cut_text
from conversations.redaction.detectors import Span
from conversations.vocabulary import BodySide, PartBytes, SecretKind
from retention.archiving import archived_among, return_bytes
from retention.blockers import ROWS_ONLY, blockers_of
from retention.errors import HeldError
from retention.locks import lock_accounts, lock_conversations
from retention.purging.stripping import lose_bodies


@dataclass(frozen=True, slots=True)
class Redacted:
    parts: int
    cuts: int


@transaction.atomic
def redact_conversation(
    *, conversation_id: UUID, kinds: frozenset[SecretKind], user: User, now: datetime
) -> Redacted:
    """Cut these kinds out of every part and the title; bodies that held them cannot be given back any more.

    Archived bytes come back first; ArchiveError where they cannot. Raises HeldError while it is held.
    Payloads in blob storage and raw bodies are not opened here: they go by their own policies.
    """
    account_id = Conversation.objects.values_list("account_id", flat=True).get(pk=conversation_id)
    lock_accounts([account_id])
    lock_conversations([conversation_id], waits=True)
    # A second statement: a hold placed before we had the lock is visible only from here on.
    held = [
        one for one in blockers_of([conversation_id]).get(conversation_id, []) if one.kind not in ROWS_ONLY
    ]
    if held:
        raise HeldError("held", held[0].words, place=f"conversation {conversation_id}")
    if archived_among([conversation_id]):
        # What is cut out of the rows must not stay in the file: it goes, and a new one is made later.
        return_bytes(conversation_id=conversation_id)
    cut = _cut_parts(conversation_id, kinds, now)
    _cut_title(conversation_id, kinds)
    if cut:
        lose_bodies(conversation_id=conversation_id, seqs={seq for seq, _ in cut})
    log_access(
        actor=Actor(ActorKind.STAFF, str(user.pk)),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.CONVERSATION,
        target_id=str(conversation_id),
        conversation_id=conversation_id,
        row_count=len(cut),
        now=now,
    )
    return Redacted(parts=len(cut), cuts=sum(cuts for _, cuts in cut))


def _cut_parts(conversation_id: UUID, kinds: frozenset[SecretKind], now: datetime) -> list[tuple[int, int]]:
    """Return the messages whose parts were cut, each with how many cuts."""
    found: list[tuple[int, int]] = []
    parts = MessagePart.objects.filter(
        conversation_id=conversation_id, bytes_state__in=[PartBytes.PRESENT, PartBytes.REDACTED], blob=None
    )
    for part in parts.order_by("seq", "ordinal"):
        text = None if part.text is None else cut_text(part.text, kinds=kinds)
        payload = None if part.payload is None else cut_body(bytes(part.payload), kinds=kinds)
        spans = [*(text.spans if text else ()), *(payload.spans if payload else ())]
        if not spans:
            continue
        _write(part, text=text.text if text else None, payload=payload.body if payload else None)
        _note(part, spans, now)
        found.append((part.seq, len(spans)))
    return found


def _write(part: MessagePart, *, text: str | None, payload: bytes | None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_messagepart SET text = %s, payload = %s, bytes_state = 'redacted'"
            " WHERE conversation_id = %s AND seq = %s AND ordinal = %s",
            [text, payload, part.conversation_id, part.seq, part.ordinal],
        )


def _note(part: MessagePart, spans: list[Span], now: datetime) -> None:
    RedactionSpan.objects.bulk_create(
        RedactionSpan(
            conversation_id=part.conversation_id,
            side=BodySide.PART,
            seq=part.seq,
            ordinal=part.ordinal,
            kind=span.kind,
            start=span.start,
            end=span.end,
            cut_at=now,
        )
        for span in spans
    )


def _cut_title(conversation_id: UUID, kinds: frozenset[SecretKind]) -> None:
    conversation = Conversation.objects.get(pk=conversation_id)
    cut = cut_text(conversation.title, kinds=kinds)
    if cut.spans:
        conversation.title = cut.text
        conversation.save(update_fields=["title"])
