"""`script/evidence kill [--runs 60] [--only NAME]`: workers die at random moments, and the end is the same.

Each round has a job: a reconciliation, the integrity job, the proof of replay, a purge with something due
in every data class of a conversation, an erasure, or the job that goes on with erasures. Workers, each a
process of its own, are killed with SIGKILL after a random time; meanwhile the wake-up message is delivered
twice, two beats fire, and the sweeper frees what a dead worker held. In the end the run's report, the job's
counts (so nothing was counted twice), every step of a request, what is left in each table, what was sealed
and the files equal those of a run that nobody disturbed.

Jobs that ask a processor are proved item by item instead, at every step of theirs: `script/evidence crash`.
"""

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, connections
from django.test import override_settings

from access.models import Realm
from evidence.kills import erasing, purging, reading
from evidence.kills.story import Story
from evidence.month import END, START
from evidence.planted import ACTOR, CUT_OFF, plant
from jobs.models import JobRun
from jobs.services.starting import start_scheduled
from jobs.services.steering import free_abandoned
from ledger.integrity.verifying import KIND as VERIFY
from ledger.statements.importing import Told, import_statement
from retention.models import RetentionPolicy

RUNS = 60
SEED = 7
EFFECTS = 150
PATIENCE = 40
# Workers die within so many times what an undisturbed run takes.
SPREAD = 1.1
GONE_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """How a story ends when nobody is killed, and how long it takes."""

    outcome: Any
    seconds: float


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence kill")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", help="a part of a job's name")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        blobs = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
        with override_settings(STORAGES={**settings.STORAGES, "blobs": blobs}):
            stories = [one for one in _stories(Path(folder)) if (asked.only or "") in one.name]
            return _prove(stories, asked.runs)


def _stories(folder: Path) -> list[Story]:
    """Only the purge's own realm has anything that is due: no story takes from another's."""
    for data_class in ("conversation", "generation_detail", "raw_bodies"):
        RetentionPolicy.objects.create(
            data_class=data_class, scope="default", action="keep", effective_from=START, set_at=START
        )
    for data_class in ("rollups", "job_runs"):
        RetentionPolicy.objects.create(
            data_class=data_class,
            scope="default",
            action="purge",
            days=purging.AGES_AFTER,
            effective_from=START,
            set_at=START,
        )
    realm, purged, erased, continued = (
        Realm.objects.create(slug=name, name=name, created_at=START)
        for name in ("killed", "purged", "erased", "continued")
    )
    month, _ = plant(realm, seed=SEED, effects=EFFECTS, each=2)
    told = Told(name="march.csv", period_start=START, period_end=END)
    imported = import_statement(realm=realm, file=month.statement(), told=told, actor=ACTOR, now=CUT_OFF)
    return [
        reading.reconciliation_story(realm, imported.statement.pk),
        reading.integrity_story(),
        reading.replay_story(realm),
        purging.story(purged, folder),
        erasing.erasure_story(erased, folder),
        erasing.continuing_story(continued, folder),
    ]


def _prove(stories: list[Story], runs: int) -> int:
    began, tally, rng = time.monotonic(), Counter[str](), random.Random(SEED)
    undisturbed = {story.name: _undisturbed(story) for story in stories}
    for number in range(runs):
        story = stories[number % len(stories)]
        wanted = undisturbed[story.name]
        job = disturbed(story, wanted.seconds, rng, tally)
        outcome = story.outcome(job)
        story.forget()
        if outcome != wanted.outcome:
            print(f"WRONG: run {number} of {story.name} ended otherwise than an undisturbed one")
            print(f"  undisturbed: {wanted.outcome}\n  disturbed:   {outcome}")
            return 1
        if (number + 1) % 10 == 0:
            sys.stderr.write(f"  {number + 1} of {runs} runs, {tally['killed']} workers killed\n")
    beats = two_beats()
    for name in sorted(undisturbed):
        print(f"  {name}: {tally[name]} workers killed, {undisturbed[name].seconds:.1f} s undisturbed")
    print(
        f"{runs} runs of {len(stories)} jobs, {tally['killed']} workers killed, {tally['doubled']} messages "
        f"doubled, {tally['freed']} runs freed: every end equals that of an undisturbed run; "
        f"two beats, {beats} run; {time.monotonic() - began:.0f} s"
    )
    return 0 if all(tally[story.name] for story in stories) and beats == 1 else 1


def disturbed(story: Story, seconds: float, rng: random.Random, tally: Counter[str]) -> JobRun:
    """Work on the story's job with workers that are killed, until one comes to its end."""
    job = story.begin()
    for _ in range(PATIENCE):
        workers = [_worker(story, job.pk) for _ in range(2)]
        tally["doubled"] += 1
        time.sleep(rng.random() * seconds * SPREAD)
        for worker in workers:
            if worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL)
                tally["killed"] += 1
                tally[story.name] += 1
            worker.join()
        _wait_for_the_dead()
        job = JobRun.objects.get(pk=job.pk)
        if not job.is_active:
            return job
        # The lease of a dead worker is over: its attempts begin anew, as the limit is not what is tried here.
        JobRun.objects.filter(pk=job.pk).update(attempt=0)
        freed = free_abandoned(now=datetime.now(UTC) + timedelta(days=3650))
        tally["freed"] += freed["freed"]
    story.work(job.pk)
    return JobRun.objects.get(pk=job.pk)


def two_beats() -> int:
    """Two beats of one moment start one run; return how many there are."""
    now, every = CUT_OFF + timedelta(days=1), timedelta(days=1)
    for _ in range(2):
        start_scheduled(kind=VERIFY, every=every, now=now, parameters={})
    return JobRun.objects.filter(kind=VERIFY, scheduled_for__isnull=False).count()


def _undisturbed(story: Story) -> Undisturbed:
    job = story.begin()
    began = time.monotonic()
    # In a process of its own too, so that what it sets for itself stays there.
    _worker(story, job.pk).join()
    seconds = time.monotonic() - began
    outcome = story.outcome(JobRun.objects.get(pk=job.pk))
    story.forget()
    return Undisturbed(outcome, seconds)


def _worker(story: Story, job_id: UUID) -> multiprocessing.process.BaseProcess:
    connections.close_all()
    worker = multiprocessing.get_context("fork").Process(target=story.work, args=(job_id,), daemon=True)
    worker.start()
    return worker


def _wait_for_the_dead() -> None:
    """A killed worker's last statement may still run; its lease would have outlived that."""
    until = time.monotonic() + GONE_SECONDS
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND usename = current_user AND pid <> pg_backend_pid()"
            )
            if cursor.fetchone()[0] == 0:
                return
        time.sleep(0.01)
    raise TimeoutError("a killed worker's statement still runs")
