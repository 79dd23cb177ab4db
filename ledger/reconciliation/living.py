"""Findings across runs: opened when first seen, closed when a run that covers them no longer sees
them, reopened when they are back.

A run with an earlier cut-off than the one that last judged a finding changes nothing about it.
One that a person resolved stays resolved while the difference stands as it was accepted; it comes
back when its values change, or when it was said to be mended and is still there.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from access.actors import Actor
from ledger.models import Finding, FindingEvent, ReconciliationRun, Sighting, ToolEffect
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.vocabulary import (
    COMPARED_KINDS,
    STANDING_RESOLUTIONS,
    FindingAction,
    FindingKind,
    FindingState,
)
from ledger.statements.vocabulary import LineKind

_AT_ONCE = 1000
_TAKEN_OVER = (
    "effect_id",
    "compensation_id",
    "reference",
    "currency",
    "amount_minor",
    "occurred_at",
    "facts",
)
_TELLING = ("ledger", "processor", "given_back", "of")
# Rows that only ever grow: what stands there does not go away by itself.
_LASTING_KINDS = (FindingKind.CONTRADICTION,)


def take_sightings(context: RunContext, *, actor: Actor, now: datetime) -> dict[str, int]:
    """Bring the findings up to what this run saw; return how many of each thing happened.

    Belongs in the transaction that finishes the run. Safe to repeat: a sighting is taken once.
    """
    counts = {"new": 0, "seen_again": 0, "reopened": 0, "closed": 0}
    while True:
        batch = list(Sighting.objects.filter(run=context.run, finding=None).order_by("id")[:_AT_ONCE])
        if not batch:
            break
        _take_batch(context, batch, counts, actor=actor, now=now)
    counts["closed"] = _close_gone(context, actor=actor, now=now)
    return counts


def _take_batch(
    context: RunContext, batch: list[Sighting], counts: dict[str, int], *, actor: Actor, now: datetime
) -> None:
    run = context.run
    subjects = {sighting.subject for sighting in batch}
    known = {
        (finding.kind, finding.subject): finding
        for finding in Finding.objects.select_for_update().filter(
            realm_id=run.realm_id, processor=run.processor, subject__in=subjects
        )
    }
    accounts: dict[UUID | None, UUID | None] = dict(
        ToolEffect.objects.filter(pk__in=[s.effect_id for s in batch if s.effect_id]).values_list(
            "pk", "account_id"
        )
    )
    new = [
        _opened(context, sighting, accounts.get(sighting.effect_id), now)
        for sighting in batch
        if (sighting.kind, sighting.subject) not in known
    ]
    Finding.objects.bulk_create(new)
    events = [_event(finding, FindingAction.OPENED, run, actor, now) for finding in new]
    fresh = {(finding.kind, finding.subject): finding for finding in new}
    for sighting in batch:
        key = (sighting.kind, sighting.subject)
        sighting.is_new = key in fresh
        sighting.finding = fresh.get(key) or known[key]
        if not sighting.is_new:
            events += _see_again(context, known[key], sighting, counts, actor=actor, now=now)
    Finding.objects.bulk_update(known.values(), _CHANGING)
    FindingEvent.objects.bulk_create(events)
    Sighting.objects.bulk_update(batch, ["finding", "is_new"])
    counts["new"] += len(new)
    counts["seen_again"] += len(batch) - len(new)


_CHANGING = (
    *(name.removesuffix("_id") if name == "effect_id" else name for name in _TAKEN_OVER),
    "state",
    "last_run",
    "last_seen_at",
    "judged_as_of",
    "due_at",
    "resolution",
    "resolved_at",
    "closed_at",
    "reopened",
)


def _opened(context: RunContext, sighting: Sighting, account_id: UUID | None, now: datetime) -> Finding:
    run = context.run
    return Finding(
        realm_id=run.realm_id,
        processor=run.processor,
        kind=sighting.kind,
        subject=sighting.subject,
        state=FindingState.OPEN,
        account_id=account_id,
        first_run=run,
        last_run=run,
        first_seen_at=now,
        last_seen_at=now,
        judged_as_of=run.cut_off,
        due_at=now + context.waiting.until_due,
        **_values(sighting),
    )


def _values(sighting: Sighting) -> dict[str, Any]:
    return {name: getattr(sighting, name) for name in _TAKEN_OVER}


def _see_again(
    context: RunContext,
    finding: Finding,
    sighting: Sighting,
    counts: dict[str, int],
    *,
    actor: Actor,
    now: datetime,
) -> list[FindingEvent]:
    run = context.run
    if run.cut_off < finding.judged_as_of:
        return []
    has_changed = _telling(finding) != _telling(sighting)
    is_back = _is_back(run, finding, has_changed=has_changed)
    for name, value in _values(sighting).items():
        setattr(finding, name, value)
    finding.last_run, finding.last_seen_at, finding.judged_as_of = run, now, run.cut_off
    if is_back:
        finding.state, finding.resolution = FindingState.OPEN, ""
        finding.resolved_at = finding.closed_at = None
        finding.reopened += 1
        finding.due_at = now + context.waiting.until_due
        counts["reopened"] += 1
        return [_event(finding, FindingAction.REOPENED, run, actor, now)]
    return [_event(finding, FindingAction.CHANGED, run, actor, now)] if has_changed else []


def _telling(one: Finding | Sighting) -> tuple[Any, ...]:
    """The values that make it another difference; from which side it was heard first is none."""
    return (one.amount_minor, one.currency, *(one.facts.get(name) for name in _TELLING))


def _is_back(run: ReconciliationRun, finding: Finding, *, has_changed: bool) -> bool:
    if finding.state == FindingState.CLOSED:
        return True
    if finding.state == FindingState.OPEN or finding.resolved_at is None:
        return False
    if has_changed:
        return True
    stands = finding.resolution in STANDING_RESOLUTIONS or finding.kind in _LASTING_KINDS
    return not stands and run.cut_off > finding.resolved_at


def _close_gone(context: RunContext, *, actor: Actor, now: datetime) -> int:
    """Close what was open, was looked for by this run, and is not there any more."""
    run = context.run
    gone = (
        Finding.objects.select_for_update(of=("self",))
        .filter(
            realm_id=run.realm_id,
            processor=run.processor,
            state=FindingState.OPEN,
            judged_as_of__lte=run.cut_off,
        )
        .exclude(last_run=run)
        .exclude(sightings__run=run)
        .filter(_looked_for(context))
    )
    closed = list(gone)
    for finding in closed:
        finding.state, finding.closed_at, finding.judged_as_of = FindingState.CLOSED, now, run.cut_off
    Finding.objects.bulk_update(closed, ["state", "closed_at", "judged_as_of"], batch_size=_AT_ONCE)
    FindingEvent.objects.bulk_create(
        [_event(finding, FindingAction.CLOSED, run, actor, now) for finding in closed]
    )
    return len(closed)


def _looked_for(context: RunContext) -> Q:
    """What this run could have seen: of what comes from statements, only what happened in its period."""
    run = context.run
    of_ledger = ~Q(kind__in=COMPARED_KINDS) & ~Q(facts__has_key="statement")
    # Where a conversation is gone, its branches can no longer be compared.
    of_ledger &= ~Q(kind=FindingKind.DUPLICATE, effect__call_seq__isnull=True)
    if not context.has_statements:
        return of_ledger
    in_period = Q(facts__has_key="statement", occurred_at__gte=run.since, occurred_at__lt=run.until)
    if not context.lists_refunds:
        in_period &= Q(facts__movement=LineKind.CHARGE.value) | Q(subject__endswith=":refunds")
    return of_ledger | in_period


def _event(
    finding: Finding, action: FindingAction, run: ReconciliationRun, actor: Actor, now: datetime
) -> FindingEvent:
    return FindingEvent(
        finding=finding, at=now, action=action, actor_kind=actor.kind, actor_id=actor.id, run=run
    )
