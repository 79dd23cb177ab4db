"""A processor's events: kept raw, worked on once, in any order, again when a person asks.

Taking in is one short transaction: the bytes, then the row, once per event id. Working looks
outside any transaction at what only the processor can tell, then settles. An event about an
object that no effect knows yet waits as `unmatched`; whoever learns of that object looks for
such events after its commit, and the event looks once more after its own: one of the two
sees the other. An event looks for those that wait only once it waits no more itself.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import F

from access.actors import Actor, ActorKind
from conversations.errors import StoreError, constraint_of
from conversations.ids import mint_id
from conversations.models import RawBody
from conversations.services.raw_bodies import keep_raw_body, open_raw_body
from conversations.vocabulary import RawClass
from ledger.evidence import OutcomeSeen
from ledger.models import EffectReference, ToolEffect, WebhookEvent
from ledger.processors import reader_for
from ledger.processors.protocol import NotToldError, ProcessorUnreachableError, ReadEvent
from ledger.services.sending import refuse_inside_transaction
from ledger.services.settling_by import heal_refunds, settle_by
from ledger.vocabulary import EvidenceSource

UNMATCHED = "unmatched"
UNREACHABLE = "processor_unreachable"
NOT_TOLD = "processor_not_told"
UNREADABLE = "unreadable"
RAW_IS_GONE = "raw_is_gone"

# Where workers were down for longer, what waited since is left to a person.
LEARNT_WITHIN = timedelta(days=7)
# An id's moment is that of the request that brought it; others see it only after the commit.
_UNMATCHED_THAT_MATCH = """
SELECT DISTINCT e.id FROM ledger_effectreference r JOIN ledger_webhookevent e ON e.object_ref = r.reference
WHERE r.id > %(before)s AND e.object_ref <> '' AND e.trouble = %(unmatched)s AND e.id > %(after)s
AND r.seen_at >= e.processed_at - interval '1 hour'
ORDER BY e.id LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class TakenIn:
    event: WebhookEvent
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Applied:
    """What came of an event: the trouble, if any, an effect it is of, and the objects that it tied to one."""

    trouble: str = ""
    effect: ToolEffect | None = None
    objects: Sequence[str] = ()


def parse(body: bytes) -> dict[str, Any]:
    """Read an event's JSON without a float in it; ValueError where it is no object."""
    try:
        value = json.loads(body, parse_float=Decimal)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def take_in_event(
    *,
    processor: str,
    body: bytes,
    now: datetime,
    source: EvidenceSource = EvidenceSource.WEBHOOK,
    place: int = 0,
) -> TakenIn:
    """Keep the bytes and the row of an event; a second delivery only counts. ValueError where it is none.

    `place` is where it stood in a list of the newest first: its key comes before those of newer ones, so
    that whoever goes through them by key begins with the oldest.
    """
    read = reader_for(processor).read_event(parse(body))
    known = WebhookEvent.objects.filter(processor=processor, event_id=read.event_id)
    if source == EvidenceSource.WEBHOOK and known.update(deliveries=F("deliveries") + 1):
        return TakenIn(known.get(), is_new=False)
    try:
        with transaction.atomic():
            written = _write(processor, body, read, source=source, now=now, place=place)
            return TakenIn(written, is_new=True)
    except IntegrityError as error:
        if constraint_of(error) != "ledger_webhook_once_per_event":
            raise
    if source == EvidenceSource.WEBHOOK:
        known.update(deliveries=F("deliveries") + 1)
    return TakenIn(known.get(), is_new=False)


def _write(
    processor: str, body: bytes, read: ReadEvent, *, source: EvidenceSource, now: datetime, place: int
) -> WebhookEvent:
    raw_id = keep_raw_body(body=body, raw_class=RawClass.WEBHOOK, now=now, place=read.event_id)
    return WebhookEvent.objects.create(
        id=mint_id(now - timedelta(milliseconds=place)),
        processor=processor,
        event_id=read.event_id[:255],
        type=read.type[:128],
        object_ref=read.object_ref[:255],
        occurred_at=read.occurred_at,
        received_at=now,
        source=source,
        raw_id=raw_id,
    )


def work_event(*, event_id: UUID, now: datetime, is_again: bool = False) -> WebhookEvent:
    """Settle what the event says; one that was worked on already is left alone, unless asked `is_again`.

    Must not run inside a transaction: it may ask the processor. Two workers on one
    event do the same thing once.
    """
    refuse_inside_transaction(place=f"event {event_id}")
    event = WebhookEvent.objects.select_related("raw").get(pk=event_id)
    if event.processed_at is not None and not is_again:
        return event
    applied = _apply(event, now=now)
    _finish(event, applied, now=now)
    if applied.trouble == UNMATCHED and work_waiting_for(reference=event.object_ref, now=now):
        event.refresh_from_db()
    for reference in applied.objects:
        work_waiting_for(reference=reference, now=now)
    return event


def work_waiting_for(*, reference: str, now: datetime) -> int:
    """Work on events that wait for this object, if an effect knows it by now; return how many.

    What they tie to an effect in turn is looked for too. It ends, as each round is brought by an event
    that waits no more.
    """
    number, references = 0, [reference]
    while references:
        name = references.pop()
        if not EffectReference.objects.filter(reference=name).exists():
            continue
        waiting = WebhookEvent.objects.filter(object_ref=name, trouble=UNMATCHED)
        for event in waiting.select_related("raw").order_by("occurred_at"):
            applied = _apply(event, now=now)
            if applied.trouble != UNMATCHED:
                _finish(event, applied, now=now)
                number += 1
                references += [found for found in applied.objects if found not in references]
    return number


def find_unmatched_that_match(*, after: UUID | None, most: int, now: datetime) -> list[UUID]:
    """Return unmatched events whose object became known after they were worked on, in their order.

    A crash came between commit and look. It goes out from the ids that were learnt of late: of what was
    made outside, events stay unmatched for ever, and there may be any number of them.
    """
    newest = EffectReference.objects.order_by("-pk")
    before = newest.filter(seen_at__lt=now - LEARNT_WITHIN).values_list("pk", flat=True).first()
    with connection.cursor() as cursor:
        cursor.execute(
            _UNMATCHED_THAT_MATCH,
            {
                "before": before or 0,
                "unmatched": UNMATCHED,
                "after": after or UUID(int=0),
                "most": most,
            },
        )
        return [row[0] for row in cursor.fetchall()]


def _apply(event: WebhookEvent, *, now: datetime) -> _Applied:
    """Settle by every piece of evidence in the event."""
    if event.raw is None:
        return _Applied(RAW_IS_GONE, event.effect)
    try:
        read = reader_for(event.processor).read_event(parse(open_raw_body(event.raw)))
    except ValueError:
        return _Applied(UNREADABLE)
    actor = Actor(ActorKind.PROCESSOR, event.event_id[:64])
    effects: list[ToolEffect] = []
    objects: list[str] = []
    try:
        for seen in read.seen:
            source = EvidenceSource(event.source)
            settled = settle_by(replace(seen, source=source, raw_id=event.raw_id), actor=actor, now=now)
            effects += settled
            if settled and isinstance(seen, OutcomeSeen):
                objects += [reference for _, reference in seen.references]
        if effects and read.refunded is not None:
            heal_refunds(event, effects[0], read.refunded, actor=actor, now=now)
    except NotToldError:
        return _Applied(NOT_TOLD, effects[0] if effects else None, objects)
    except ProcessorUnreachableError:
        return _Applied(UNREACHABLE, effects[0] if effects else None, objects)
    except StoreError as error:
        return _Applied(error.rule[:64], effects[0] if effects else None, objects)
    if read.seen and not effects:
        return _Applied(UNMATCHED)
    return _Applied("", effects[0] if effects else None, objects)


def _finish(event: WebhookEvent, applied: _Applied, *, now: datetime) -> None:
    """Write down that the event was worked on; one that the processor has to be asked about waits."""
    event.trouble, event.effect = applied.trouble, applied.effect
    event.processed_at = None if applied.trouble == UNREACHABLE else now
    event.attempts += 1
    event.save(update_fields=["trouble", "effect", "processed_at", "attempts"])
    if applied.effect is not None and event.processed_at is not None:
        _let_go_of_erased(event, applied.effect)


def _let_go_of_erased(event: WebhookEvent, effect: ToolEffect) -> None:
    """Keep no bytes that come late about somebody who was erased; what is held stays, as evidence."""
    is_erased = ToolEffect.objects.filter(pk=effect.pk).exclude(account_pseudonym="").exists()
    if event.raw_id is None or not is_erased:
        return
    try:
        with transaction.atomic():
            RawBody.objects.filter(pk=event.raw_id).delete()
    except IntegrityError as error:
        if constraint_of(error) != "retention_held_stays":
            raise


def as_body(event: Mapping[str, Any]) -> bytes:
    """Write an event that came through the API as the bytes that are kept of it."""
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False, default=str).encode()
