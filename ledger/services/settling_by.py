"""What a piece of evidence settles: the effect of an outcome, of a refund, of a dispute.

Some of it only the processor can tell; it is asked outside any transaction.
"""

from datetime import datetime

from django.db.models import Q

from access.actors import Actor
from ledger.evidence import AnySeen, DisputeSeen, OutcomeSeen, RefundSeen
from ledger.models import Compensation, ToolEffect, WebhookEvent
from ledger.processors import adapter_for, reader_for
from ledger.processors.protocol import ProcessorUnreachableError
from ledger.services import matching
from ledger.services.disputes import take_dispute
from ledger.services.refunds import take_refund
from ledger.services.settling import settle_effect
from ledger.vocabulary import CompensationState


def settle_by(seen: AnySeen, *, actor: Actor, now: datetime) -> list[ToolEffect]:
    """Settle every effect that the evidence is about."""
    match seen:
        case OutcomeSeen():
            effect = matching.effect_of_outcome(seen)
            if effect is None:
                return []
            settle_effect(effect_id=effect.pk, seen=seen, actor=actor, now=now)
            return [effect]
        case RefundSeen():
            return _settle_by_refund(seen, actor=actor, now=now)
        case DisputeSeen():
            effect = matching.charge_of(seen)
            if effect is None:
                return []
            take_dispute(effect_id=effect.pk, seen=seen, now=now)
            return [effect]


def _settle_by_refund(seen: RefundSeen, *, actor: Actor, now: datetime) -> list[ToolEffect]:
    effects = []
    maker = matching.refund_call_of(seen)
    if maker is not None:
        outcome = reader_for(seen.processor).outcome_of_refund(seen)
        settle_effect(effect_id=maker.pk, seen=outcome, actor=actor, now=now)
        effects.append(maker)
    charge = matching.charge_of(seen)
    if charge is None:
        return effects
    try:
        is_release = _is_release(charge, seen)
    except ProcessorUnreachableError:
        if charge.amount_settled_minor is not None:
            raise
        # What was taken is not known yet: it waits for its charge, as if that were not known either.
        return effects
    if not is_release:
        take_refund(effect_id=charge.pk, seen=seen, actor=actor, now=now)
    return [*effects, charge]


def _is_release(effect: ToolEffect, seen: RefundSeen) -> bool:
    """Whether it only lets go of what a partial capture did not take; asks the processor if need be."""
    if seen.is_release is not None:
        return seen.is_release
    asked, taken = effect.amount_minor, effect.amount_settled_minor
    was_taken_whole = asked is not None and taken is not None and taken >= asked
    if was_taken_whole or Compensation.objects.filter(effect=effect, external_ref=seen.reference).exists():
        return False
    adapter = adapter_for(seen.processor)
    if adapter is None:
        raise ProcessorUnreachableError("the processor is not configured")
    return adapter.is_release(seen)


def heal_refunds(
    event: WebhookEvent, effect: ToolEffect, refunded: tuple[str, int], *, actor: Actor, now: datetime
) -> None:
    """Where a charge says that more was given back than we know, ask for its refunds.

    One that failed since counts among what was given back when the event was made.
    """
    charge_ref, amount = refunded
    known = Compensation.objects.filter(effect=effect).exclude(external_ref="")
    had_failed = Q(state=CompensationState.FAILED, failed_at__lt=event.occurred_at)
    active = known.exclude(had_failed).values_list("amount_minor", flat=True)
    if sum(active) >= amount:
        return
    adapter = adapter_for(event.processor)
    if adapter is None:
        raise ProcessorUnreachableError("the processor is not configured")
    for seen in adapter.find_refunds(charge_ref=charge_ref):
        _settle_by_refund(seen, actor=actor, now=now)
