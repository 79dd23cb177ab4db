"""`script/evidence kill [--runs 75] [--only NAME]`: workers die at random moments, and the end is the same.

Every kind of job has its story (`evidence.kills.kinds`); those that ask the processor ask the sandbox,
a process of its own, with Stripe's SDK. Workers, each a process of its own, are killed with SIGKILL
after a random time; meanwhile the wake-up message is delivered twice, two beats fire, and the sweeper
frees what a dead worker held. In the end the run's report, the job's counts (so nothing was counted
twice), every step of a request, what is left in each table, what was sealed, the files, the ledger and
the processor's books (so nothing was charged or given back twice) equal those of a run that nobody
disturbed.

`script/evidence crash` kills at every step of a charge and a refund instead of at random ones.
"""

import argparse
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import override_settings

from evidence.crashes.stories import World
from evidence.kills import purging
from evidence.kills.alerting import receivers
from evidence.kills.kinds import STORIES, Places
from evidence.kills.story import Story
from evidence.month import START
from evidence.planted import CUT_OFF
from jobs.models import JobRun
from jobs.services.starting import start_scheduled
from ledger.integrity.verifying import KIND as VERIFY
from ledger.processors import STRIPE
from ledger.services.policies import save_policy
from retention.models import RetentionPolicy
from samples.processor.process import run_processor

RUNS = 75
SEED = 7
PATIENCE = 40
# Workers die within so many times what an undisturbed run takes.
SPREAD = 1.1
GONE_SECONDS = 20
# The sandbox's clock begins long before the month that others reconcile, and is turned by days.
SANDBOX_BEGINS = "2024-06-03T14:03:00Z"


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """How a story ends when nobody is killed, and how long it takes."""

    outcome: Any
    seconds: float


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence kill")
    parser.add_argument("--runs", type=int, default=RUNS, help="in all; each story has as many as another")
    parser.add_argument("--only", help="a part of a job's name")
    asked = parser.parse_args(arguments)
    names = [name for name in STORIES if (asked.only or "") in name]
    if not names:
        parser.error(f"--only: no job's name holds {asked.only!r}; there are {', '.join(STORIES)}")
    with tempfile.TemporaryDirectory() as folder, _places(Path(folder)) as places:
        return _prove(names, places, asked.runs)


@contextmanager
def _places(folder: Path) -> Iterator[Places]:
    """Blobs in a folder, alerts at a receiver, the sandbox with a clock that only we turn."""
    blobs = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": folder / "blobs"},
    }
    _set_policies()
    with (
        override_settings(STORAGES={**settings.STORAGES, "blobs": blobs}),
        receivers(folder) as heard,
        run_processor(data=folder / "books.sqlite3", clock=SANDBOX_BEGINS, frozen=True) as processor,
        override_settings(STRIPE_API_KEY=processor.api_key, STRIPE_API_BASE=processor.base_url),
    ):
        staff = [User.objects.create_user(name) for name in ("kill-cyd", "kill-dan")]
        places = Places(folder / "blobs", World(processor, Places.realm("asked"), staff), heard)
        save_policy(
            realm=places.world.realm,
            name="buy_plan",
            user=staff[0],
            now=START,
            effectful="yes",
            replay_policy="ask",
            processor=STRIPE,
            amount_path="amount",
            currency_path="currency",
        )
        yield places


def _set_policies() -> None:
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


def _prove(names: list[str], places: Places, runs: int) -> int:
    began, tally, rng = time.monotonic(), Counter[str](), random.Random(SEED)
    each = -(-runs // len(names))
    for name in names:
        story = STORIES[name](places)
        if story.name != name:
            raise LookupError(f"the story of {name} is one of {story.name}")
        wanted, runs_done = _undisturbed(story), 0
        while runs_done < each:
            killed = tally[name]
            job = disturbed(story, wanted.seconds, rng, tally)
            outcome = story.outcome(job)
            story.forget()
            if outcome != wanted.outcome:
                print(f"WRONG: run {runs_done + 1} of {name} ended otherwise than an undisturbed one")
                print(f"  undisturbed: {wanted.outcome}\n  disturbed:   {outcome}")
                return 1
            # One that was quicker than its killer was not disturbed.
            runs_done += tally[name] > killed
        print(f"  {name}: {each} runs, {tally[name]} workers killed, {wanted.seconds:.1f} s undisturbed")
    beats = two_beats()
    print(
        f"{each * len(names)} runs of {len(names)} jobs, {tally['killed']} workers killed, "
        f"{tally['doubled']} messages doubled, {tally['freed']} runs freed: every end equals that of an "
        "undisturbed run; "
        f"two beats, {beats} run; {time.monotonic() - began:.0f} s"
    )
    return 0 if all(tally[name] for name in names) and beats == 1 else 1


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
        tally["freed"] += story.free(job)
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
