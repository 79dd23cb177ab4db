"""Asking for a run: its inputs are chosen, checked and frozen here, before anything is compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from access.models import Realm
from conversations.errors import StoreError
from conversations.ids import mint_id
from conversations.writing_order import next_in_order
from jobs.services.starting import start_job
from ledger.models import ReconciliationRun, RunInput, Statement
from ledger.reconciliation.policies import waiting_of

KIND = "ledger.reconcile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to compare. Without statements only the ledger and the conversations are looked at."""

    realm: Realm
    processor: str
    statement_ids: Sequence[UUID] = ()
    since: datetime | None = None
    until: datetime | None = None
    cut_off: datetime | None = None
    judges_unknown: bool = True


@transaction.atomic
def start_reconciliation(*, asked: Asked, actor: Actor, now: datetime, reason: str = "") -> ReconciliationRun:
    """Freeze the inputs and queue the run; a worker does the rest.

    The period is that of the statements, the cut-off the present, unless they are named.
    Raises StoreError where the statements do not cover the period, and OverlapError while
    another run of this realm and processor is at work.
    """
    statements = _statements(asked)
    since, until = _period(asked, statements)
    run = ReconciliationRun(
        id=mint_id(now),
        realm=asked.realm,
        processor=asked.processor,
        since=since,
        until=until,
        cut_off=_cut_off(asked.cut_off, until=until, now=now),
        written_before=next_in_order(),
        decisions_until=now,
        judges_unknown=asked.judges_unknown,
        policy=waiting_of(asked.realm.pk).as_json(),
        requested_at=now,
        requested_by_kind=actor.kind,
        requested_by_id=actor.id,
    )
    return _queue(run, [(s.pk, bytes(s.sha256)) for s in statements], actor=actor, now=now, reason=reason)


@transaction.atomic
def repeat_reconciliation(*, run_id: UUID, actor: Actor, now: datetime) -> ReconciliationRun:
    """Queue a run again with the inputs that it had, frozen as they were then."""
    before = ReconciliationRun.objects.get(pk=run_id)
    inputs = [(entry.statement_id, bytes(entry.sha256)) for entry in before.inputs.order_by("position")]
    run = ReconciliationRun(
        id=mint_id(now),
        realm_id=before.realm_id,
        processor=before.processor,
        since=before.since,
        until=before.until,
        cut_off=before.cut_off,
        written_before=before.written_before,
        decisions_until=before.decisions_until,
        judges_unknown=before.judges_unknown,
        policy=before.policy,
        repeats_id=before.repeats_id or before.pk,
        requested_at=now,
        requested_by_kind=actor.kind,
        requested_by_id=actor.id,
    )
    return _queue(run, inputs, actor=actor, now=now, reason="")


def _queue(
    run: ReconciliationRun,
    inputs: Sequence[tuple[UUID, bytes]],
    *,
    actor: Actor,
    now: datetime,
    reason: str,
) -> ReconciliationRun:
    run.job = start_job(
        kind=KIND,
        scope=f"{run.realm_id}:{run.processor}",
        requested_by=(actor.kind, actor.id),
        now=now,
        parameters={"run": str(run.pk)},
        reason=reason,
        unit="lines",
    )
    run.save(force_insert=True)
    RunInput.objects.bulk_create(
        [
            RunInput(run=run, position=position, statement_id=statement_id, sha256=digest)
            for position, (statement_id, digest) in enumerate(inputs, 1)
        ]
    )
    return run


def _statements(asked: Asked) -> list[Statement]:
    """Oldest first: what was handed over later knows more."""
    found = Statement.objects.filter(
        pk__in=asked.statement_ids, realm=asked.realm, processor=asked.processor
    ).order_by("imported_at", "id")
    statements = list(found)
    if len(statements) != len(set(asked.statement_ids)):
        raise StoreError(
            "statement-elsewhere", "a statement is not of this realm and processor, or does not exist"
        )
    return statements


def _period(asked: Asked, statements: Sequence[Statement]) -> tuple[datetime, datetime]:
    if not statements:
        if asked.since is None or asked.until is None:
            raise StoreError("period-not-said", "without statements, say which period is meant")
        return asked.since, asked.until
    since = asked.since or min(statement.period_start for statement in statements)
    until = asked.until or max(statement.period_end for statement in statements)
    if until <= since:
        raise StoreError("period-ends-early", "the period ends before it begins")
    _check_cover(statements, since, until)
    return since, until


def _check_cover(statements: Sequence[Statement], since: datetime, until: datetime) -> None:
    """What no statement covers would all be missing at the processor."""
    reached = since
    for statement in sorted(statements, key=lambda statement: statement.period_start):
        if statement.period_start > reached:
            break
        reached = max(reached, statement.period_end)
    if reached < until:
        raise StoreError(
            "period-not-covered",
            f"no statement covers {reached:%Y-%m-%d %H:%M:%S} UTC and after, until {until:%Y-%m-%d %H:%M:%S}",
        )


def _cut_off(asked: datetime | None, *, until: datetime, now: datetime) -> datetime:
    cut_off = asked or max(now, until)
    if cut_off < until or cut_off > max(now, until):
        raise StoreError("cut-off-outside", "the cut-off lies between the end of the period and the present")
    return cut_off
