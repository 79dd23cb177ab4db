"""The moment before the socket opens, and what is heard after it closes."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.errors import StoreError
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass
from conversations.writing_order import next_in_order
from ledger.errors import InsideTransactionError, KeyExpiredError, NotSendableError
from ledger.evidence import OutcomeSeen
from ledger.models import ToolEffect
from ledger.processors import has_reader, reader_for
from ledger.processors.protocol import Heard
from ledger.services.beginning import add_find_by
from ledger.services.guarding import is_key_expired
from ledger.services.settling import Settled, lock_effect, settle_effect, write_contradiction
from ledger.vocabulary import ContradictionKind, EffectState, EvidenceSource


def refuse_inside_transaction(*, place: str = "") -> None:
    """Raise InsideTransactionError where a rollback could still take back what is about to be promised."""
    try:
        with transaction.atomic(durable=True):
            pass
    except RuntimeError:
        raise InsideTransactionError(place=place) from None


def mark_sent(*, effect_id: UUID, now: datetime, find_by: Mapping[str, str] | None = None) -> ToolEffect:
    """Commit that the request is about to leave; only after this may the socket be opened.

    The first time counts. Raises InsideTransactionError inside a transaction,
    NotSendableError for an effect that is settled, KeyExpiredError where the
    processor may have forgotten the key.
    """
    refuse_inside_transaction(place=f"effect {effect_id}")
    with transaction.atomic():
        effect = lock_effect(effect_id)
        if effect.state != EffectState.PENDING:
            raise NotSendableError(
                "effect-settled",
                f"the effect is {effect.state}; use its outcome",
                place=f"effect {effect_id}",
            )
        if is_key_expired(effect, now=now):
            raise KeyExpiredError(
                "key-expired",
                "the processor may have forgotten the key: look at its books, do not send",
                place=f"effect {effect_id}",
            )
        if effect.sent_at is None:
            effect.sent_at, effect.sent_order = now, next_in_order()
        if find_by:
            add_find_by(effect, find_by, now=now)
            effect.find_by = {**effect.find_by, **find_by}
        effect.save(update_fields=["sent_at", "sent_order", "find_by"])
    return effect


def settle_by_answer(
    *, effect_id: UUID, answer: Mapping[str, Any], body: bytes, actor: Actor, now: datetime
) -> Settled | None:
    """Settle from the processor's own answer to our request; None where it says nothing of an outcome.

    `body` are the bytes as they came; they are kept as the evidence's raw body.
    """
    effect = ToolEffect.objects.get(pk=effect_id)
    seen = reader_for(effect.processor, place=f"effect {effect_id}").read_answer(answer)
    if seen is None:
        return None
    with transaction.atomic():
        raw_id = None if effect.account_pseudonym else _keep(effect, body, seen, now=now)
        # What we asked for ourselves was answered: it is this effect's, whatever its metadata say.
        ours = replace(seen, effect_id=effect.pk, raw_id=raw_id)
        return settle_effect(effect_id=effect.pk, seen=ours, actor=actor, now=now)


def _keep(effect: ToolEffect, body: bytes, seen: OutcomeSeen, *, now: datetime) -> UUID:
    """Keep the answer's bytes; an answer of somebody who was erased is read and not kept."""
    return keep_raw_body(
        body=body, raw_class=RawClass.RESPONSE, now=now, account_id=effect.account_id, place=seen.reference
    )


def settle_by_report(
    *,
    effect_id: UUID,
    outcome: EffectState,
    reference: str,
    actor: Actor,
    now: datetime,
    status: str = "",
    amount_minor: int | None = None,
    currency: str = "",
    occurred_at: datetime | None = None,
) -> Settled:
    """Settle from what the application reports of the processor's answer, for processors without adapter.

    The report must name the processor's own object or request: a state moves by
    evidence, not by opinion. So StoreError too where the processor's own answer can be read.
    """
    if not reference:
        raise StoreError(
            "report-without-reference", "name the processor's object or request", place=str(effect_id)
        )
    if outcome not in (EffectState.APPLIED, EffectState.FAILED):
        raise StoreError("report-not-final", "report applied or failed", place=str(effect_id))
    effect = ToolEffect.objects.get(pk=effect_id)
    if has_reader(effect.processor):
        # "Failed", said of a request whose answer was lost, would free a second key for the same charge.
        raise StoreError(
            "report-not-evidence",
            f"what became of it is read from {effect.processor}'s own answer; hand that in",
            place=str(effect_id),
        )
    seen = OutcomeSeen(
        processor=effect.processor,
        source=EvidenceSource.ANSWER,
        reference=reference,
        status=status,
        currency=(currency or effect.currency).lower(),
        amount_minor=effect.amount_minor if amount_minor is None else amount_minor,
        occurred_at=occurred_at,
        effect_id=effect.pk,
        outcome=outcome,
    )
    return settle_effect(effect_id=effect_id, seen=seen, actor=actor, now=now)


@transaction.atomic
def settle_by_refusal(*, effect_id: UUID, heard: Heard, actor: Actor, now: datetime) -> Settled | None:
    """Settle from an error that says what became of the request; None where the outcome stays unknown.

    A key that the processor knows with other parameters leaves the effect open, and a contradiction.
    """
    if heard.is_key_reused:
        write_contradiction(
            lock_effect(effect_id),
            ContradictionKind.KEY_REUSED,
            None,
            now=now,
            reference=heard.reference,
            source=EvidenceSource.ANSWER,
        )
    if heard.seen is None:
        return None
    return settle_effect(effect_id=effect_id, seen=heard.seen, actor=actor, now=now)
