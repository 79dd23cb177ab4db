"""`script/evidence holds [--rounds 100]`: 1,000 holds are placed while four purge workers run.

Each round has thirty conversations that are due: what the round before held, and has been released
since, and new ones. Four workers, each a process of its own, purge
them in small batches; meanwhile holds are placed on accounts, conversations and effects. What was
held when its hold committed is there afterwards, with every row; a hold that came too late was told
that there is nothing to hold. Held rows are compared with their digests from before.
"""

import argparse
import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.queues import Queue
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, connections

from evidence import holding
from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from retention.purging import job
from retention.purging.job import PURGE, purge

WORKERS = 4
CONVERSATIONS = 30
HOLDS = 10
ROUNDS = 100
# Seconds that the workers may have before the first hold.
HEAD_START = 0.6
START = datetime(2026, 3, 9, 14, 3, tzinfo=UTC)
LATE = START + timedelta(days=91)
SEED = 11


@dataclass
class Tally:
    placed: Counter[str] = field(default_factory=Counter)
    too_late: int = 0
    purged: int = 0
    wrong: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence holds")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    tally, began = Tally(), time.monotonic()
    with workers() as (asked, answered):
        place = holding.make_place()
        user = User.objects.create_user("holder")
        left: list[holding.Told] = []
        for number in range(rounds):
            rng = random.Random(SEED * 100_003 + number)
            left += holding.tell(place, rng, conversations=CONVERSATIONS - len(left))
            left = race(number, left, user, asked, answered, rng, tally)
            if tally.wrong:
                break
            if (number + 1) % 50 == 0:
                sys.stderr.write(f"  {number + 1} of {rounds} rounds\n")
    print(f"rounds {rounds}, workers {WORKERS}, {time.monotonic() - began:.0f} s")
    print(f"holds placed in time: {dict(sorted(tally.placed.items()))}")
    print(f"holds that came too late, and were told so: {tally.too_late}")
    print(f"conversations purged meanwhile: {tally.purged}")
    for line in tally.wrong:
        print(f"WRONG: {line}")
    if not tally.placed or not tally.purged:
        print("WRONG: the race did not happen")
        return 1
    return 1 if tally.wrong else 0


def race(
    number: int,
    told: list[holding.Told],
    user: User,
    asked: list[Queue],
    answered: Queue,
    rng: random.Random,
    tally: Tally,
) -> list[holding.Told]:
    """One round: start the workers, place holds, compare, release; return what is still there."""
    before = holding.digests([one.conversation_id for one in told])
    for queue in asked:
        queue.put(LATE.isoformat())
    # Some rounds begin to hold before the first batch, some when half has gone.
    time.sleep(rng.random() * HEAD_START)
    held: set[UUID] = set()
    for one in rng.sample(told, HOLDS):
        kind = holding.hold(one, rng=rng, user=user, now=LATE, among=told)
        if kind is None:
            tally.too_late += 1
        else:
            tally.placed[kind.kind] += 1
            held |= kind.conversations
        time.sleep(rng.random() * 0.004)
    for _ in asked:
        outcome = answered.get(timeout=120)
        if outcome != "succeeded":
            tally.wrong.append(f"round {number}: a worker ended as {outcome}")
    after = holding.digests([one.conversation_id for one in told])
    for conversation_id in sorted(held):
        if after.get(conversation_id) != before[conversation_id]:
            tally.wrong.append(f"round {number}: held conversation {conversation_id} lost something")
    tally.purged += len(told) - len(after)
    if set(after) - held:
        tally.wrong.append(f"round {number}: {len(set(after) - held)} due and free, and still there")
    # The next round begins with nothing held.
    holding.release_all(asking=user, now=LATE)
    return [one for one in told if one.conversation_id in after]


@contextmanager
def workers() -> Iterator[tuple[list[Queue], Queue]]:
    """Four processes that purge whenever they are told to."""
    connections.close_all()
    context = multiprocessing.get_context("fork")
    asked = [context.Queue() for _ in range(WORKERS)]
    answered: Queue = context.Queue()
    processes = [
        context.Process(target=_work, args=(number, queue, answered), daemon=True)
        for number, queue in enumerate(asked)
    ]
    for process in processes:
        process.start()
    try:
        yield asked, answered
    finally:
        for queue in asked:
            queue.put(None)
        for process in processes:
            process.join(20)


def _work(number: int, asked: Queue, answered: Queue) -> None:
    # The steps that take something of a conversation; what nothing names and what ages is not raced for.
    job.STEPS = job.STEPS[: [step.name for step in job.STEPS].index("conversations") + 1]
    while (moment := asked.get()) is not None:
        now = datetime.fromisoformat(moment)
        run = start_job(kind=PURGE, scope=f"worker-{number}", requested_by=("job", "evidence"), now=now)
        done = purge(run_id=run.pk, clock=_clock_at(now), batch_size=3, load_percent=100)
        answered.put(_ending(done))
    connection.close()


def _ending(run: JobRun | None) -> str:
    """A worker whose every candidate another one had taken has nothing to show; that is no failure here."""
    if run is None:
        return "none"
    run.refresh_from_db()
    is_idle = run.state == RunState.FAILED and run.error_code == "nothing-gone"
    return str(RunState.SUCCEEDED if is_idle else run.state)


def _clock_at(now: datetime) -> Callable[[], datetime]:
    return lambda: now
