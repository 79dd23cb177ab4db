"""Hearing a processor's answer as bytes: what an application in another process has of it.

The bytes come from outside and may be anything. What they say is checked before a row is touched,
so that a refusal names the rule and nothing is half settled.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from access.actors import Actor
from conversations.errors import ConflictError, StoreError
from ledger.evidence import OutcomeSeen
from ledger.models import ToolEffect
from ledger.processors import reader_for
from ledger.processors.protocol import Heard
from ledger.services.events import parse, work_waiting_for
from ledger.services.sending import settle_by_answer, settle_by_refusal
from ledger.services.settling import Settled

_FIRST_REFUSAL: Final = 400
_LONGEST_REFERENCE, _LONGEST_STATUS = 255, 64
_LARGEST_AMOUNT: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it came over the wire. `request_id` is the processor's own, of the answer's headers."""

    status: int
    body: bytes
    request_id: str = ""


def hear_answer(*, effect_id: UUID, raw: RawAnswer, actor: Actor, now: datetime) -> Settled | None:
    """Settle from the answer's bytes; None where they leave open what became of the request.

    Raises StoreError for what is no answer of the effect's processor, ConflictError for one whose
    metadata name another effect. Then takes in what waited for the objects that the answer names.
    """
    effect = ToolEffect.objects.get(pk=effect_id)
    place = f"effect {effect_id}"
    try:
        answer = parse(raw.body)
        seen, heard = _read(effect, raw, answer, place=place)
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, OSError) as error:
        raise StoreError(
            "answer-unreadable", f"this is no answer of {effect.processor}: {error}"[:500], place=place
        ) from error
    if seen is None:
        return (
            None
            if heard is None
            else settle_by_refusal(effect_id=effect_id, heard=heard, actor=actor, now=now)
        )
    if seen.effect_id not in (None, effect_id):
        raise ConflictError(
            "answer-of-another-effect", f"its metadata name the effect {seen.effect_id}", place=place
        )
    _refuse_unfit(seen, place=place)
    if heard is not None:
        return settle_by_refusal(effect_id=effect_id, heard=heard, actor=actor, now=now)
    settled = settle_by_answer(effect_id=effect_id, answer=answer, body=raw.body, actor=actor, now=now)
    work_on_what_waited(effect=effect, now=now)
    return settled


def work_on_what_waited(*, effect: ToolEffect, now: datetime) -> None:
    """Take in events that came before the effect knew their objects."""
    for reference in effect.references.values_list("reference", flat=True):
        work_waiting_for(reference=reference, now=now)


def _read(
    effect: ToolEffect, raw: RawAnswer, answer: dict[str, Any], *, place: str
) -> tuple[OutcomeSeen | None, Heard | None]:
    reader = reader_for(effect.processor, place=place)
    if odd := reader.unreadable_member(answer):
        raise ValueError(f"its {odd} is none that can be kept")
    if raw.status < _FIRST_REFUSAL:
        return reader.read_answer(answer), None
    heard = reader.read_refusal(status=raw.status, body=answer, request_id=raw.request_id)
    return heard.seen, heard


def _refuse_unfit(seen: OutcomeSeen, *, place: str) -> None:
    """Refuse what no row could hold: an answer without an id, an amount past all counting."""
    texts = [seen.reference, seen.status, seen.currency, *(reference for _, reference in seen.references)]
    is_long = len(seen.reference) > _LONGEST_REFERENCE or len(seen.status) > _LONGEST_STATUS
    amount = seen.amount_minor
    if not seen.reference or is_long or not all(text.isprintable() for text in texts):
        raise StoreError("answer-without-id", "the answer names no object of the processor", place=place)
    if amount is not None and not 0 <= amount <= _LARGEST_AMOUNT:
        raise StoreError("answer-amount", "the answer's amount is none", place=place)
