"""A run at work: batches with checkpoints, so that a worker that dies loses one batch.

Phases in their order: whoever was still writing comes to an end; the lines of every statement;
what the ledger has in the period and no statement shows; what the ledger and the conversations show
by themselves, one kind after the other; the end, in which findings are brought up to date, the
report is written and the run is frozen. The cost grows with lines and effects, not with messages.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from access.actors import Actor, ActorKind
from jobs.models import JobRun
from jobs.services.working import Batch, JobError, work
from ledger.models import ReconciliationRun, StatementLine
from ledger.reconciliation import judging_ledger
from ledger.reconciliation.alerts import alert_of_run
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.judged import Judged, Seen, write_judged, write_seen
from ledger.reconciliation.judging import judge_lines
from ledger.reconciliation.kinds import (
    abandoned,
    contradiction,
    dispute_open,
    duplicate,
    refund_failed_later,
    stale_pending,
)
from ledger.reconciliation.living import take_sightings
from ledger.reconciliation.report import make_report
from ledger.reconciliation.writers import open_writers, wait_for_writers

LINES_AT_ONCE = 2000
# Longer than any request and any batch of a job.
WRITERS_MAY_TAKE = timedelta(minutes=30)
# After so many seconds of waiting the lease is renewed, and a stop is heeded.
_LOOKS_FOR = 5
type Clock = Callable[[], datetime]
type Finder = Callable[[RunContext], list[Seen]]

# What is found without a statement. Stale ones last: what a statement has shown is not unknown.
FINDERS: Sequence[tuple[str, Finder]] = (
    ("abandoned", abandoned.find),
    ("duplicate", duplicate.find),
    ("refund_failed_later", refund_failed_later.find),
    ("dispute_open", dispute_open.find),
    ("contradiction", contradiction.find),
    ("stale_pending", stale_pending.find),
)


def reconcile(
    *, run_id: UUID, clock: Clock = timezone.now, lines_at_once: int = LINES_AT_ONCE
) -> JobRun | None:
    """Work on a job of kind `ledger.reconcile` to its end; None where there was nothing to claim."""

    def batch(job: JobRun, now: datetime) -> Batch:
        context = RunContext(_run_of(job))
        if job.cursor is None:
            return Batch(cursor=_begin(context, now))
        return _PHASES[job.cursor["phase"]](context, job.cursor, now, lines_at_once)

    return work(run_id=run_id, batch=batch, clock=clock)


def _run_of(job: JobRun) -> ReconciliationRun:
    run = ReconciliationRun.objects.filter(pk=job.parameters.get("run")).select_related("realm").first()
    if run is None:
        raise JobError("no-run", "the job names no reconciliation", place=str(job.parameters.get("run")))
    if run.finished_at is not None:
        raise JobError("run-frozen", "this reconciliation is finished; repeat it", place=str(run.pk))
    return run


def _begin(context: RunContext, now: datetime) -> dict[str, Any]:
    """Where to begin; the digests of the inputs must be what they were when the run was asked for."""
    for entry in context.run.inputs.select_related("statement"):
        if bytes(entry.sha256) != bytes(entry.statement.sha256):
            raise JobError("input-changed", "a statement is not what it was", place=str(entry.statement_id))
    return {"phase": "writers", "open": open_writers(), "since": now.isoformat()}


def _wait_for_writers(context: RunContext, cursor: dict[str, Any], now: datetime, limit: int) -> Batch:
    """Let those come to their end who may have written what this run reads, and not committed it yet."""
    still_open = wait_for_writers(cursor["open"], seconds=_LOOKS_FOR)
    if not still_open:
        phase = "lines" if context.has_statements else "kinds"
        return Batch(cursor={"phase": phase, "position": 1, "number": 0, "kind": 0})
    if now - datetime.fromisoformat(cursor["since"]) > WRITERS_MAY_TAKE:
        raise JobError(
            "writers-do-not-end",
            f"what was being written when the run began is not committed after {WRITERS_MAY_TAKE}: "
            "end that transaction, then let the run go on",
            place=f"transaction {', '.join(still_open)}",
        )
    return Batch(cursor={**cursor, "open": still_open})


def _work_lines(context: RunContext, cursor: dict[str, Any], now: datetime, limit: int) -> Batch:
    position, number = cursor["position"], cursor["number"]
    statement_id = next(pk for pk, place in context.positions.items() if place == position)
    lines = list(
        StatementLine.objects.filter(statement_id=statement_id, number__gt=number).order_by("number")[:limit]
    )
    counts = write_judged(context.run, judge_lines(context, [line for line in lines if not line.trouble]))
    counts["skipped"] = sum(1 for line in lines if line.trouble)
    total = sum(context.run.inputs.values_list("statement__line_count", flat=True))
    following = {"phase": "lines", "position": position, "number": lines[-1].number if lines else number}
    if len(lines) < limit:
        following = {"phase": "lines", "position": position + 1, "number": 0}
        if position + 1 > max(context.positions.values()):
            following = {"phase": "effects", "after": None}
    return Batch(cursor=following, done=len(lines), total=total, counts={"lines": counts})


def _work_effects(context: RunContext, cursor: dict[str, Any], now: datetime, limit: int) -> Batch:
    return _work_ledger(
        context, cursor, limit, judging_ledger.next_effects, judging_ledger.judge_effects, then="refunds"
    )


def _work_refunds(context: RunContext, cursor: dict[str, Any], now: datetime, limit: int) -> Batch:
    if not context.lists_refunds:
        return Batch(cursor={"phase": "kinds", "kind": 0})
    return _work_ledger(
        context, cursor, limit, judging_ledger.next_refunds, judging_ledger.judge_refunds, then="kinds"
    )


def _work_ledger(
    context: RunContext,
    cursor: dict[str, Any],
    limit: int,
    following: Callable[..., list[UUID]],
    judge: Callable[[RunContext, Sequence[UUID]], list[Judged]],
    *,
    then: str,
) -> Batch:
    after = UUID(cursor["after"]) if cursor["after"] else None
    ids = following(context, after=after, limit=limit)
    counts = write_judged(context.run, judge(context, ids)) if ids else {}
    phase = cursor["phase"]
    if len(ids) < limit:
        return Batch(cursor={"phase": then, "after": None, "kind": 0}, counts={phase: counts})
    return Batch(cursor={"phase": phase, "after": str(ids[-1])}, counts={phase: counts})


def _work_kinds(context: RunContext, cursor: dict[str, Any], now: datetime, limit: int) -> Batch:
    place = cursor["kind"]
    name, find = FINDERS[place]
    found = write_seen(context.run, find(context))
    following = {"phase": "kinds", "kind": place + 1} if place + 1 < len(FINDERS) else {"phase": "end"}
    return Batch(cursor=following, counts={"kinds": {name: found}})


def _work_end(context: RunContext, cursor: dict[str, Any], now: datetime, limit: int) -> Batch:
    run = context.run
    actor = Actor(ActorKind.JOB, str(run.job_id or ""))
    counts = take_sightings(context, actor=actor, now=now)
    run.report, run.report_sha256 = make_report(context)
    run.finished_at = now
    run.save(update_fields=["report", "report_sha256", "finished_at"])
    alert_of_run(run=run, now=now)
    return Batch(counts={"findings": counts}, report={"run": str(run.pk), "sha256": run.report_sha256.hex()})


_PHASES: dict[str, Callable[[RunContext, dict[str, Any], datetime, int], Batch]] = {
    "writers": _wait_for_writers,
    "lines": _work_lines,
    "effects": _work_effects,
    "refunds": _work_refunds,
    "kinds": _work_kinds,
    "end": _work_end,
}
