"""A refund had settled and came back: the customer was told of money that they do not have.

No finding once as much was given back afterwards.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q

from ledger.models import ToolEffect
from ledger.reconciliation.as_of import EffectAsOf, RefundAsOf, effects_as_of, refunds_as_of
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Seen
from ledger.reconciliation.movements import Movement
from ledger.reconciliation.vocabulary import FindingKind
from ledger.vocabulary import CompensationState, EffectState, Operation


def refund_failed(movement: Movement, *, effect_id: UUID, refund: RefundAsOf | None) -> Seen:
    """Name a failure that the processor shows and the ledger has not heard of."""
    return Seen(
        kind=FindingKind.REFUND_FAILED_LATER,
        subject=movement.reference,
        occurred_at=movement.occurred_at,
        effect_id=effect_id,
        compensation_id=refund.id if refund else None,
        reference=movement.reference,
        currency=movement.currency,
        amount_minor=abs(movement.amount_minor),
        facts={"statement": True},
    )


def find(context: RunContext) -> list[Seen]:
    """Return what the ledger knows: refunds of charges, and refunds that a tool made itself."""
    run = context.run
    of_run = Q(effect__realm_id=run.realm_id, effect__processor=run.processor)
    failed = [
        refund
        for refund in refunds_as_of(
            of_run & Q(failed_at__isnull=False, settled_at__isnull=False), as_of=context.as_of
        )
        if refund.state == CompensationState.FAILED and refund.has_settled
    ]
    settled = refunds_as_of(
        Q(effect_id__in={refund.effect_id for refund in failed}, settled_at__isnull=False),
        as_of=context.as_of,
    )
    seen = [_seen(refund) for refund in failed if not _is_made_good(refund, settled)]
    return seen + [_of_tool(effect) for effect in _returned_tool_refunds(context)]


def _is_made_good(failed: RefundAsOf, settled: Iterable[RefundAsOf]) -> bool:
    after = sum(
        refund.amount_minor
        for refund in settled
        if refund.effect_id == failed.effect_id
        and refund.state == CompensationState.SETTLED
        and refund.settled_at is not None
        and failed.failed_at is not None
        and refund.settled_at > failed.failed_at
    )
    return after >= failed.amount_minor


def _seen(refund: RefundAsOf) -> Seen:
    if refund.failed_at is None:
        raise ValueError(f"refund {refund.id} failed at no time")
    return Seen(
        kind=FindingKind.REFUND_FAILED_LATER,
        subject=refund.reference,
        occurred_at=refund.failed_at,
        effect_id=refund.effect_id,
        compensation_id=refund.id,
        reference=refund.reference,
        currency=refund.currency,
        amount_minor=refund.amount_minor,
    )


def _returned_tool_refunds(context: RunContext) -> list[EffectAsOf]:
    """A tool's refund that came back stands as compensated by its own return."""
    run = context.run
    ids = ToolEffect.objects.filter(
        realm_id=run.realm_id,
        processor=run.processor,
        operation=Operation.REFUND,
        state=EffectState.COMPENSATED,
    ).values_list("pk", flat=True)
    known = effects_as_of(list(ids), as_of=context.as_of).values()
    return [effect for effect in known if effect.state == EffectState.COMPENSATED]


def _of_tool(effect: EffectAsOf) -> Seen:
    return Seen(
        kind=FindingKind.REFUND_FAILED_LATER,
        subject=effect.external_ref,
        occurred_at=effect.settled_at or effect.requested_at,
        effect_id=effect.id,
        reference=effect.external_ref,
        currency=effect.currency,
        amount_minor=effect.settled_minor,
    )
