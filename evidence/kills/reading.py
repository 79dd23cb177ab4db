"""Jobs that read and report: reconciliation, integrity, replay."""

from typing import Any
from uuid import UUID

from access.models import Realm
from conversations.replay import job as replay
from conversations.services.accounts import ensure_account
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from evidence.kills.story import Story
from evidence.month import START
from evidence.planted import ACTOR, CUT_OFF
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from jobs.services.working import work
from ledger.integrity.verifying import KIND as VERIFY
from ledger.integrity.verifying import verify_integrity
from ledger.models import ReconciliationRun
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation

# Small batches, so that there is much to be killed in between.
LINES, CONVERSATIONS, BODIES = 20, 20, 5
EXCHANGES = 60


def reconciliation_story(realm: Realm, statement_id: UUID) -> Story:
    return Story(
        name="ledger.reconcile",
        begin=lambda: _reconciliation(realm, statement_id),
        work=lambda job_id: reconcile(run_id=job_id, lines_at_once=LINES),
        outcome=_outcome,
    )


def integrity_story() -> Story:
    return Story(
        name=VERIFY,
        begin=lambda: start_job(kind=VERIFY, requested_by=("job", "kill"), now=CUT_OFF),
        work=lambda job_id: verify_integrity(run_id=job_id, at_once=CONVERSATIONS),
        outcome=_outcome,
    )


def replay_story(realm: Realm) -> Story:
    """Recorded calls, each of which is rebuilt and held against its digest."""
    account = ensure_account(realm=realm, external_id="replayed", now=START)
    for number in range(EXCHANGES):
        body = (
            '{"model":"claude-sonnet-4-5","max_tokens":64,'
            f'"messages":[{{"role":"user","content":"question {number}"}}]}}'
        )
        record_exchange(
            account=account,
            request_body=body.encode(),
            response_body=None,
            dialect=Dialect.ANTHROPIC_MESSAGES,
            actor=ACTOR,
            now=START,
            exchange_id=f"killed-{number}",
        )
    return Story(
        name="conversations.verify_replay",
        begin=lambda: start_job(
            kind="conversations.verify_replay", requested_by=("job", "kill"), now=CUT_OFF
        ),
        work=_verify_replay,
        outcome=_outcome,
    )


def _verify_replay(job_id: UUID) -> None:
    replay.BATCH = BODIES
    work(run_id=job_id, batch=replay.verify_some)


def _reconciliation(realm: Realm, statement_id: UUID) -> JobRun:
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement_id], cut_off=CUT_OFF)
    run = start_reconciliation(asked=asked, actor=ACTOR, now=CUT_OFF)
    return JobRun.objects.get(parameters__run=str(run.pk))


def _outcome(job: JobRun) -> tuple[Any, ...]:
    """What must be equal: how it ended, what it counted, and every row of its result."""
    if job.state != RunState.SUCCEEDED:
        raise SystemExit(f"{job.kind} ended as {job.state}: {job.error_code} {job.error}")
    run = ReconciliationRun.objects.filter(job=job).first()
    # What was new is new once, in whichever run came first.
    counts = {step: counted for step, counted in job.counts.items() if step != "findings"}
    return (counts, job.done, run.report if run else job.report, run.rows.count() if run else 0)
