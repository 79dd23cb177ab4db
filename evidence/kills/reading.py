"""Jobs that read and report: reconciliation, integrity, replay."""

from typing import Any
from uuid import UUID

from access.models import Realm
from conversations.replay import job as replay
from conversations.services.accounts import ensure_account
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from evidence.kills.story import Story
from evidence.month import END, START
from evidence.planted import ACTOR, CUT_OFF, plant
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from jobs.services.working import work
from ledger.integrity.verifying import KIND as VERIFY
from ledger.integrity.verifying import verify_integrity
from ledger.models import ReconciliationRun
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.statements.importing import Told, import_statement

# Small batches, so that there is much to be killed in between.
LINES, CONVERSATIONS, BODIES = 20, 20, 5
EXCHANGES = 60
SEED, EFFECTS = 7, 150


def reconciliation_story(realm: Realm) -> Story:
    """A month with two of every difference, and the statement of it as a file."""
    month, _ = plant(realm, seed=SEED, effects=EFFECTS, each=2)
    told = Told(name="march.csv", period_start=START, period_end=END)
    imported = import_statement(realm=realm, file=month.statement(), told=told, actor=ACTOR, now=CUT_OFF)
    statement_id = imported.statement.pk
    return Story(
        name="ledger.reconcile",
        begin=lambda: _reconciliation(realm, statement_id),
        work=lambda job_id: reconcile(run_id=job_id, lines_at_once=LINES),
        outcome=outcome_of_reading,
    )


def integrity_story(realm: Realm) -> Story:
    plant(realm, seed=SEED + 1, effects=EFFECTS, each=2)
    return Story(
        name=VERIFY,
        begin=lambda: start_job(kind=VERIFY, requested_by=("job", "kill"), now=CUT_OFF),
        work=lambda job_id: verify_integrity(run_id=job_id, at_once=CONVERSATIONS),
        outcome=outcome_of_reading,
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
        outcome=outcome_of_reading,
    )


def _verify_replay(job_id: UUID) -> None:
    replay.BATCH = BODIES
    work(run_id=job_id, batch=replay.verify_some)


def _reconciliation(realm: Realm, statement_id: UUID) -> JobRun:
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement_id], cut_off=CUT_OFF)
    run = start_reconciliation(asked=asked, actor=ACTOR, now=CUT_OFF)
    return JobRun.objects.get(parameters__run=str(run.pk))


def outcome_of_reading(job: JobRun) -> tuple[Any, ...]:
    """What must be equal: how it ended, what it counted, and every row of its result."""
    if job.state != RunState.SUCCEEDED:
        raise SystemExit(f"{job.kind} ended as {job.state}: {job.error_code} {job.error}")
    run = ReconciliationRun.objects.filter(job=job).first()
    # What was new is new once, in whichever run came first.
    counts = {step: counted for step, counted in job.counts.items() if step != "findings"}
    return (counts, job.done, run.report if run else job.report, run.rows.count() if run else 0)
