"""What the ledger says moved in the period and no statement of the run shows."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q, QuerySet

from ledger.arrays import among, among_ids
from ledger.models import CompensationVersion, RunRow, ToolEffect
from ledger.reconciliation.as_of import EffectAsOf, RefundAsOf, effects_as_of, refunds_as_of
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged
from ledger.reconciliation.kinds.missing_at_processor import missing_charge, missing_refund
from ledger.reconciliation.vocabulary import MatchedBy
from ledger.statements.vocabulary import LineKind
from ledger.vocabulary import CompensationState, Operation

_KINDS = {Operation.CHARGE: LineKind.CHARGE, Operation.REFUND: LineKind.REFUND}


def next_effects(context: RunContext, *, after: UUID | None, limit: int) -> list[UUID]:
    """Return settled effects of the period, by key; what a row of the run shows is left out later."""
    run = context.run
    operations = list(_KINDS) if context.lists_refunds else [Operation.CHARGE]
    found: QuerySet[ToolEffect] = ToolEffect.objects.filter(
        realm_id=run.realm_id,
        processor=run.processor,
        operation__in=operations,
        settled_at__gte=run.since,
        settled_at__lt=run.until,
    )
    if after is not None:
        found = found.filter(pk__gt=after)
    return list(found.order_by("pk").values_list("pk", flat=True)[:limit])


def judge_effects(context: RunContext, ids: Sequence[UUID]) -> list[Judged]:
    """Return a row for each of these that was settled at the cut-off and that no statement shows."""
    run = context.run
    # A refund's row names its charge too, and so does that of a second charge, which the ledger has
    # nothing for: only a row of the effect's own movement shows the effect.
    own = Q(effect__operation=Operation.CHARGE, kind=LineKind.CHARGE, ledger_minor__gt=0)
    own |= Q(effect__operation=Operation.REFUND, kind=LineKind.REFUND)
    rows = RunRow.objects.filter(own, among_ids("effect_id", ids), run=run).exclude(
        matched_by=MatchedBy.SUGGESTED
    )
    shown = set(rows.values_list("effect_id", flat=True))
    effects = effects_as_of([pk for pk in ids if pk not in shown], as_of=context.as_of).values()
    settled = [effect for effect in effects if effect.is_settled]
    taken = _taken(context, [effect.external_ref for effect in settled])
    # A tool's refund of a charge that the ledger knows stands in the row of that charge's compensation.
    return [
        _judge_effect(context, effect, taken)
        for effect in settled
        if effect.operation != Operation.REFUND or (effect.external_ref, LineKind.REFUND) not in taken
    ]


def _judge_effect(context: RunContext, effect: EffectAsOf, taken: set[tuple[str, str]]) -> Judged:
    settled_at = effect.settled_at or effect.requested_at
    kind = _KINDS[Operation(effect.operation)]
    sign = 1 if kind == LineKind.CHARGE else -1
    is_taken = (effect.external_ref, kind) in taken
    judged = Judged(
        kind=kind,
        reference=f"{effect.external_ref[:210]}:{effect.id}" if is_taken else effect.external_ref,
        occurred_at=settled_at,
        currency=effect.currency,
        processor_minor=0,
        matched_by=MatchedBy.LEDGER_ONLY,
        effect_id=effect.id,
        ledger_minor=sign * effect.settled_minor,
        ledger_state=str(effect.state),
        ledger_currency=effect.currency,
    )
    if context.is_late(settled_at):
        judged.seen.append(missing_charge(effect, settled_at=settled_at))
    else:
        judged.is_waiting = True
    return judged


def next_refunds(context: RunContext, *, after: UUID | None, limit: int) -> list[UUID]:
    """Return compensations that were known to have settled in the period, by key."""
    run = context.run
    found = CompensationVersion.objects.filter(
        context.as_of.known("known_at"),
        compensation__effect__realm_id=run.realm_id,
        compensation__effect__processor=run.processor,
        settled_at__gte=run.since,
        settled_at__lt=run.until,
    )
    if after is not None:
        found = found.filter(compensation_id__gt=after)
    ids = found.order_by("compensation_id").values_list("compensation_id", flat=True).distinct()
    return list(ids[:limit])


def judge_refunds(context: RunContext, ids: Sequence[UUID]) -> list[Judged]:
    """Return a row for each of these that had gone out and that no statement shows."""
    refunds = [
        refund
        for refund in refunds_as_of(Q(pk__in=ids), as_of=context.as_of)
        if refund.settled_at is not None
        and context.covers(refund.settled_at)
        and not _came_back_within(context, refund)
    ]
    taken = _taken(context, [refund.reference for refund in refunds])
    missing = [refund for refund in refunds if (refund.reference, LineKind.REFUND) not in taken]
    effects = effects_as_of({refund.effect_id for refund in missing}, as_of=context.as_of)
    return [
        _judge_refund(context, refund, effects[refund.effect_id])
        for refund in missing
        if refund.effect_id in effects
    ]


def _came_back_within(context: RunContext, refund: RefundAsOf) -> bool:
    """One that went out and came back in one period may not be listed at all."""
    is_failed = refund.state == CompensationState.FAILED
    return is_failed and refund.failed_at is not None and refund.failed_at < context.run.until


def _judge_refund(context: RunContext, refund: RefundAsOf, effect: EffectAsOf) -> Judged:
    settled_at = refund.settled_at or effect.requested_at
    judged = Judged(
        kind=LineKind.REFUND,
        reference=refund.reference,
        occurred_at=settled_at,
        currency=refund.currency,
        processor_minor=0,
        matched_by=MatchedBy.LEDGER_ONLY,
        effect_id=effect.id,
        compensation_id=refund.id,
        ledger_minor=-refund.amount_minor,
        ledger_state=str(refund.state),
        ledger_currency=refund.currency,
    )
    if context.is_late(settled_at):
        judged.seen.append(missing_refund(effect, refund, settled_at=settled_at))
    else:
        judged.is_waiting = True
    return judged


def _taken(context: RunContext, references: Sequence[str]) -> set[tuple[str, str]]:
    rows = RunRow.objects.filter(among("reference", references), run=context.run)
    return set(rows.values_list("reference", "kind"))
