"""Messages that are written by hand or imported, cut before they are digested, matched or stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Account, RedactionSpan
from conversations.redaction.cutting import cut_body, cut_json, cut_text, marks_in
from conversations.redaction.detectors import Span
from conversations.redaction.switch import kinds_for
from conversations.vocabulary import BodySide, SecretKind

# Up to here it is cheaper to look for secrets than to ask whether anybody wants them cut.
_SMALL: Final = 64 * 1024
_EVERY_KIND: Final = frozenset(SecretKind)


@dataclass(frozen=True, slots=True)
class CutMessage:
    """The message as it may be stored, and where marks stand in it: a part's place, and the span."""

    message: MessageDraft
    spans: tuple[tuple[int, Span], ...] = ()


def cut_message(*, conversation_id: UUID, message: MessageDraft) -> CutMessage:
    """Cut what the switch of the conversation's account names.

    Where nothing in a message looks like a secret, nothing is asked of the database. What the caller
    handed over stays as it is.
    """
    if _size(message) <= _SMALL and not _has_secrets(message):
        return CutMessage(message)
    kinds = kinds_of_conversation(conversation_id)
    return cut_draft(message, kinds=kinds) if kinds else CutMessage(message)


def cut_words(text: str, *, account_id: UUID | None = None, conversation_id: UUID | None = None) -> str:
    """Cut a title, a summary or the words of an error, by the switch of the account or the conversation's."""
    if not cut_text(text, kinds=_EVERY_KIND).spans:
        return text
    if conversation_id is not None:
        return cut_text(text, kinds=kinds_of_conversation(conversation_id)).text
    return text if account_id is None else cut_text(text, kinds=_kinds_of_account(account_id)).text


def kinds_of_conversation(conversation_id: UUID) -> frozenset[SecretKind]:
    """Return what is cut for the conversation's account; nothing where there is no such conversation."""
    row = Account.objects.filter(conversations=conversation_id).values_list("pk", "realm_id").first()
    return kinds_for(account_id=row[0], realm_id=row[1]) if row else frozenset()


def _kinds_of_account(account_id: UUID) -> frozenset[SecretKind]:
    realm_id = Account.objects.values_list("realm_id", flat=True).filter(pk=account_id).first()
    return frozenset() if realm_id is None else kinds_for(account_id=account_id, realm_id=realm_id)


def cut_draft(message: MessageDraft, *, kinds: frozenset[SecretKind]) -> CutMessage:
    """Cut every part: its words, its payload, and the JSON around both."""
    shell = None if message.shell is None else cut_json(message.shell, kinds=kinds)
    parts = [cut_part(part, kinds=kinds) for part in message.parts]
    cut = [place for place, part in enumerate(parts) if part is not message.parts[place]]
    if not cut and shell == message.shell:
        return CutMessage(message)
    spans = [(place, span) for place in cut for span in spans_of(parts[place])]
    return CutMessage(replace(message, shell=shell, parts=parts), tuple(spans))


def cut_part(part: PartDraft, *, kinds: frozenset[SecretKind]) -> PartDraft:
    """Return the part without these secrets; the very part where there are none."""
    text = None if part.text is None else cut_text(part.text, kinds=kinds).text
    payload = None if part.payload is None else cut_body(part.payload, kinds=kinds).body
    shell = None if part.shell is None else cut_json(part.shell, kinds=kinds)
    if (text, payload, shell) == (part.text, part.payload, part.shell):
        return part
    return replace(part, text=text, payload=payload, shell=shell)


def spans_of(part: PartDraft) -> Iterator[Span]:
    """Where marks stand in a part that was cut: in its text if it has one, else in its payload."""
    if part.text is not None:
        yield from marks_in(part.text)
    elif part.payload is not None:
        yield from marks_in(part.payload.decode("utf-8", "surrogateescape"))


def note_part_cuts(
    *, conversation_id: UUID, spans: Sequence[tuple[int, int, Span]], now: datetime
) -> list[RedactionSpan]:
    """Write down message, part, kind and place of each cut; never what stood there."""
    return RedactionSpan.objects.bulk_create(
        RedactionSpan(
            conversation_id=conversation_id,
            side=BodySide.PART,
            seq=seq,
            ordinal=ordinal,
            kind=span.kind,
            start=span.start,
            end=span.end,
            cut_at=now,
        )
        for seq, ordinal, span in spans
    )


def _has_secrets(message: MessageDraft) -> bool:
    return cut_draft(message, kinds=_EVERY_KIND).message is not message


def _size(message: MessageDraft) -> int:
    return sum(len(part.text or "") + len(part.payload or b"") for part in message.parts)
