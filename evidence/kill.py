"""`script/evidence kill [--runs 50]`: workers are killed at random moments, and the end is the same.

Each round has a job of kind `ledger.reconcile` or `ledger.verify_integrity`. Workers, each a process of
its own, are killed with SIGKILL after a random time; meanwhile the wake-up message is delivered twice,
two beats fire, and the sweeper frees what a dead worker held. In the end the run's report, its rows and
the job's counts equal those of a run that nobody disturbed.
"""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connections

from access.models import Realm
from evidence.month import END, START
from evidence.planted import ACTOR, CUT_OFF, plant
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job, start_scheduled
from jobs.services.steering import free_abandoned
from ledger.integrity.verifying import KIND as VERIFY
from ledger.integrity.verifying import verify_integrity
from ledger.models import ReconciliationRun
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.statements.importing import Told, import_statement

RUNS = 50
SEED = 7
EFFECTS = 150
PATIENCE = 40
# Small batches, so that there is much to be killed in between.
LINES, CONVERSATIONS = 20, 20
# Every job has ended by itself in this time; what is killed is killed earlier.
LONGEST = 2.5


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence kill")
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args(arguments).runs
    began, tally = time.monotonic(), Counter[str]()
    realm = Realm.objects.create(slug="killed", name="Killed", created_at=START)
    month, _ = plant(realm, seed=SEED, effects=EFFECTS, each=2)
    told = Told(name="march.csv", period_start=START, period_end=END)
    imported = import_statement(realm=realm, file=month.statement(), told=told, actor=ACTOR, now=CUT_OFF)
    kinds: list[Callable[[], JobRun]] = [lambda: _reconciliation(realm, imported.statement.pk), _verification]
    wanted = [_outcome(_undisturbed(start())) for start in kinds]
    rng = random.Random(SEED)
    for number in range(runs):
        place = number % len(kinds)
        job = disturbed(kinds[place](), rng, tally)
        if _outcome(job) != wanted[place]:
            print(f"WRONG: run {number} of {job.kind} ended otherwise than an undisturbed one")
            return 1
        if (number + 1) % 10 == 0:
            sys.stderr.write(f"  {number + 1} of {runs} runs\n")
    beats = two_beats()
    seconds = time.monotonic() - began
    print(
        f"{runs} runs of {len(kinds)} jobs, {tally['killed']} workers killed, {tally['doubled']} messages "
        f"doubled, {tally['freed']} runs freed: every end equals that of an undisturbed run; "
        f"two beats, {beats} run; {seconds:.0f} s"
    )
    return 0 if tally["killed"] and beats == 1 else 1


def disturbed(job: JobRun, rng: random.Random, tally: Counter[str]) -> JobRun:
    """Work on the job with workers that are killed, until one comes to its end."""
    for _ in range(PATIENCE):
        workers = [_worker(job.kind, job.pk) for _ in range(2)]
        tally["doubled"] += 1
        time.sleep(rng.random() * LONGEST)
        for worker in workers:
            if worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL)
                tally["killed"] += 1
            worker.join()
        job = JobRun.objects.get(pk=job.pk)
        if not job.is_active:
            return job
        # The lease of a dead worker is over: its attempts begin anew, as the limit is not what is tried here.
        JobRun.objects.filter(pk=job.pk).update(attempt=0)
        freed = free_abandoned(now=datetime.now(UTC) + timedelta(minutes=10))
        tally["freed"] += freed["freed"]
    return _undisturbed(job)


def two_beats() -> int:
    """Two beats of one moment start one run; return how many there are."""
    now, every = CUT_OFF + timedelta(days=1), timedelta(days=1)
    for _ in range(2):
        start_scheduled(kind=VERIFY, every=every, now=now, parameters={})
    return JobRun.objects.filter(kind=VERIFY, scheduled_for__isnull=False).count()


def _reconciliation(realm: Realm, statement_id: UUID) -> JobRun:
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement_id], cut_off=CUT_OFF)
    run = start_reconciliation(asked=asked, actor=ACTOR, now=CUT_OFF)
    return JobRun.objects.get(parameters__run=str(run.pk))


def _verification() -> JobRun:
    return start_job(kind=VERIFY, requested_by=("job", "kill"), now=CUT_OFF)


def _undisturbed(job: JobRun) -> JobRun:
    _work(job.kind, job.pk)
    return JobRun.objects.get(pk=job.pk)


def _worker(kind: str, job_id: UUID) -> multiprocessing.process.BaseProcess:
    connections.close_all()
    worker = multiprocessing.get_context("fork").Process(target=_work, args=(kind, job_id), daemon=True)
    worker.start()
    return worker


def _work(kind: str, job_id: UUID) -> None:
    if kind == VERIFY:
        verify_integrity(run_id=job_id, at_once=CONVERSATIONS)
    else:
        reconcile(run_id=job_id, lines_at_once=LINES)


def _outcome(job: JobRun) -> tuple[Any, ...]:
    """What must be equal: how it ended, what it counted, and every row of its result."""
    if job.state != RunState.SUCCEEDED:
        raise SystemExit(f"{job.kind} ended as {job.state}: {job.error_code} {job.error}")
    run = ReconciliationRun.objects.filter(job=job).first()
    # What was new is new once, in whichever run came first.
    counts = {step: counted for step, counted in job.counts.items() if step != "findings"}
    return (counts, job.done, run.report if run else job.report, run.rows.count() if run else 0)
