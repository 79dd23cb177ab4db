"""A worker sends approved refunds: one at a time, each under its own key, outside any transaction.

`sent_at` is committed before the socket opens. A refund whose answer was lost is looked for in
the list of its charge's refunds; where it is not there and the key still lives, it is sent again
under the same key, which cannot make a second one. After the key's life it is only looked for.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from access.actors import Actor
from ledger.evidence import COMPENSATION_METADATA, EFFECT_METADATA, KEY_METADATA, RefundSeen
from ledger.models import Compensation
from ledger.processors import adapter_for, key_life
from ledger.processors.protocol import (
    Adapter,
    NotToldError,
    OutcomeUnknownError,
    ProcessorUnreachableError,
    RefundOrder,
    RefusedError,
)
from ledger.services.compensating import lock_compensation
from ledger.services.recounting import recount
from ledger.services.refunds import take_refund
from ledger.services.sending import refuse_inside_transaction
from ledger.vocabulary import CompensationOrigin, CompensationState

# An answer that is this late is looked for.
ANSWER_IS_LATE = timedelta(minutes=2)
# The processor's clock and ours may differ; absence waits for this on top of the key's life.
MARGIN = timedelta(hours=1)


def due(*, now: datetime) -> QuerySet[Compensation]:
    """Return what a worker has to do: approved refunds, and sent ones whose answer is late."""
    late = now - ANSWER_IS_LATE
    unheard = Q(state=CompensationState.SENT, external_ref="", sent_at__lte=late)
    not_just_looked = Q(looked_at=None) | Q(looked_at__lte=late)
    return Compensation.objects.filter(
        Q(state=CompensationState.APPROVED) | (unheard & not_just_looked),
        origin=CompensationOrigin.COUNTERFOIL,
    ).order_by("requested_at", "id")


def send_refund(*, compensation_id: UUID, actor: Actor, now: datetime) -> str:
    """Send an approved refund, or find out about one that was sent; return what happened, in a word."""
    refuse_inside_transaction(place=f"compensation {compensation_id}")
    compensation = Compensation.objects.select_related("effect").get(pk=compensation_id)
    adapter = adapter_for(compensation.effect.processor)
    if adapter is None:
        return "not_configured"
    if compensation.state == CompensationState.SENT and compensation.external_ref == "":
        return _look_then_send(compensation, adapter, actor=actor, now=now)
    if compensation.state != CompensationState.APPROVED:
        return "not_due"
    if not _mark_sent(compensation_id, actor=actor, now=now):
        return "not_sent"
    return _send(compensation, adapter, actor=actor, now=now)


@transaction.atomic
def _mark_sent(compensation_id: UUID, *, actor: Actor, now: datetime) -> bool:
    """Commit that it leaves; fail it instead where the dashboard was quicker and too little is left."""
    compensation = lock_compensation(compensation_id)
    if compensation.state != CompensationState.APPROVED:
        return False
    effect = compensation.effect
    others = effect.amount_reserved_minor - compensation.amount_minor
    left = (effect.amount_settled_minor or 0) - effect.amount_compensated_minor - others
    if compensation.amount_minor > left:
        _fail(compensation, "more_than_is_left", actor=actor, now=now)
        return False
    compensation.state, compensation.sent_at = CompensationState.SENT, now
    compensation.known_at = max(now, compensation.known_at)
    compensation.save(update_fields=["state", "sent_at", "known_at"])
    return True


def _send(compensation: Compensation, adapter: Adapter, *, actor: Actor, now: datetime) -> str:
    try:
        seen = adapter.refund(_order(compensation))
    except OutcomeUnknownError:
        return "unknown"
    except RefusedError as refusal:
        return _take_refusal(compensation, adapter, refusal, actor=actor, now=now)
    return _take(compensation, seen, actor=actor, now=now)


def _look_then_send(compensation: Compensation, adapter: Adapter, *, actor: Actor, now: datetime) -> str:
    Compensation.objects.filter(pk=compensation.pk).update(looked_at=now)
    try:
        found = _find(compensation, adapter)
    except NotToldError:
        return "not_told"
    except ProcessorUnreachableError:
        return "unreachable"
    if found is not None:
        return _take(compensation, found, actor=actor, now=now)
    life = key_life(compensation.effect.processor)
    sent_at = compensation.sent_at or now
    if now < sent_at + life - MARGIN:
        return _send(compensation, adapter, actor=actor, now=now)
    if now < sent_at + life + MARGIN:
        return "unknown"
    with transaction.atomic():
        _fail(lock_compensation(compensation.pk), "absent", actor=actor, now=now)
    return "absent"


def _find(compensation: Compensation, adapter: Adapter) -> RefundSeen | None:
    for seen in adapter.find_refunds(charge_ref=compensation.effect.external_ref):
        if seen.compensation_id == compensation.pk or seen.idempotency_key == compensation.idempotency_key:
            return seen
    return None


def _take_refusal(
    compensation: Compensation, adapter: Adapter, refusal: RefusedError, *, actor: Actor, now: datetime
) -> str:
    """A refusal proves that nothing moved now; an earlier sending may still have done it."""
    try:
        found = _find(compensation, adapter)
    except ProcessorUnreachableError:
        return "unknown"
    if found is not None:
        return _take(compensation, found, actor=actor, now=now)
    with transaction.atomic():
        _fail(lock_compensation(compensation.pk), refusal.code, actor=actor, now=now)
    return "refused"


def _take(compensation: Compensation, seen: RefundSeen, *, actor: Actor, now: datetime) -> str:
    taken = take_refund(effect_id=compensation.effect_id, seen=seen, actor=actor, now=now)
    return str(taken.compensation.state) if taken.compensation else "not_taken"


def _fail(compensation: Compensation, code: str, *, actor: Actor, now: datetime) -> None:
    if compensation.state not in (CompensationState.APPROVED, CompensationState.SENT):
        return
    compensation.state, compensation.failed_at = CompensationState.FAILED, now
    compensation.failure_code = code[:128]
    compensation.known_at = max(now, compensation.known_at)
    compensation.save(update_fields=["state", "failed_at", "failure_code", "known_at"])
    recount(effect=compensation.effect, actor=actor, now=now, by=compensation)


def _order(compensation: Compensation) -> RefundOrder:
    return RefundOrder(
        charge_ref=compensation.effect.external_ref,
        amount_minor=compensation.amount_minor,
        currency=compensation.currency,
        idempotency_key=compensation.idempotency_key,
        reason=compensation.reason,
        metadata={
            EFFECT_METADATA: str(compensation.effect_id),
            COMPENSATION_METADATA: str(compensation.pk),
            KEY_METADATA: compensation.idempotency_key,
        },
    )
