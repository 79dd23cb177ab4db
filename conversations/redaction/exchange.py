"""Both bodies of an exchange, cut before anybody reads them; and the note of what was cut where."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from conversations.models import Generation, RedactionSpan
from conversations.redaction.cutting import cut_body
from conversations.redaction.detectors import Span
from conversations.redaction.switch import kinds_for
from conversations.vocabulary import BodySide


@dataclass(frozen=True, slots=True)
class CutExchange:
    request_body: bytes
    response_body: bytes | None
    spans: tuple[tuple[BodySide, Span], ...] = ()


def cut_exchange(
    *, account_id: UUID, realm_id: int, request_body: bytes, response_body: bytes | None
) -> CutExchange:
    """Cut what the account's switch names; one query, and nothing else where it is off."""
    kinds = kinds_for(account_id=account_id, realm_id=realm_id)
    if not kinds:
        return CutExchange(request_body, response_body)
    request = cut_body(request_body, kinds=kinds)
    spans = [(BodySide.REQUEST, span) for span in request.spans]
    if response_body is not None:
        response = cut_body(response_body, kinds=kinds)
        spans += [(BodySide.RESPONSE, span) for span in response.spans]
        response_body = response.body
    return CutExchange(request.body, response_body, tuple(spans))


def note_cuts(
    *, conversation_id: UUID, number: int, spans: Sequence[tuple[BodySide, Span]], now: datetime
) -> None:
    """Write down kind and place of each cut; the attempt says that its body is not the one that was sent."""
    RedactionSpan.objects.bulk_create(
        RedactionSpan(
            conversation_id=conversation_id,
            number=number,
            side=side,
            kind=span.kind,
            start=span.start,
            end=span.end,
            cut_at=now,
        )
        for side, span in spans
    )
    if any(side == BodySide.REQUEST for side, _ in spans):
        Generation.objects.filter(conversation_id=conversation_id, number=number).update(is_redacted=True)
