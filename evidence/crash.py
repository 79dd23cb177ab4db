"""`script/evidence crash [--http] [--runs 200]`: processes are killed at every step of a charge and a refund.

A real agent process charges through Stripe's own SDK against the sandbox processor while it, a
worker, or its database connection is killed: at every statement, every commit and every
request, before and after. Whoever comes next goes on: the agent again, the sweeper, the events,
an edited question on another branch, or nobody until the keys' life is over. Then the
processor's books are read, customer by customer. The clock is the sandbox's, and is turned.

With `--http` the agent is an application elsewhere: it speaks to the product's web server, and
both are killed, the application before and after each of its requests, the server at each of its
statements and commits.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from django.contrib.auth.models import User
from django.test import override_settings

from access.models import Realm
from evidence.crashes import processes
from evidence.crashes.over_http import prove_over_http
from evidence.crashes.remote import RemoteWorld
from evidence.crashes.sequels import (
    NEXT,
    START,
    Act,
    Tally,
    conclude,
    follow,
    live_through_the_keys_life,
    run,
)
from evidence.crashes.steps import How
from evidence.crashes.stories import Story, World
from ledger.processors import STRIPE
from ledger.services.policies import save_policy
from samples.processor.process import StartedProcessor, run_processor

ACTS = ("charge", "sweep", "events", "refund")

type Point = tuple[str, How, int]
type MakeWorld[W: World] = Callable[[StartedProcessor, Realm, list[User]], W]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence crash")
    parser.add_argument("--runs", type=int, default=200, help="at least so many (default 200)")
    parser.add_argument(
        "--boundaries", action="store_true", help="strike at commits and requests only, by killing only"
    )
    parser.add_argument(
        "--http", action="store_true", help="the agent speaks HTTP to the web server; --runs is how many"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if options.http:
            with remote_world_in(Path(folder)) as remote:
                return prove_over_http(remote, runs=options.runs)
        with world_in(Path(folder)) as world:
            return prove(world, runs=options.runs, only_boundaries=options.boundaries)


@contextmanager
def world_in(folder: Path) -> Iterator[World]:
    """A realm with one tool and two people, and the sandbox with a clock that only we turn."""
    with _made_in(folder, World) as world:
        yield world


@contextmanager
def remote_world_in(folder: Path) -> Iterator[RemoteWorld]:
    """The same, with a web server between the agent and the store."""

    def make(processor: StartedProcessor, realm: Realm, staff: list[User]) -> RemoteWorld:
        return RemoteWorld(processor, realm, staff, folder=folder)

    with _made_in(folder, make) as world:
        try:
            yield world
        finally:
            world.server.close()


@contextmanager
def _made_in[W: World](folder: Path, make: MakeWorld[W]) -> Iterator[W]:
    now = datetime.fromisoformat(START)
    realm = Realm.objects.create(slug="crash", name="Crash test", created_at=now)
    staff = [User.objects.create_user(name) for name in ("crash-ann", "crash-ben")]
    save_policy(
        realm=realm,
        name="buy_plan",
        user=staff[0],
        now=now,
        effectful="yes",
        replay_policy="ask",
        processor=STRIPE,
        amount_path="amount",
        currency_path="currency",
    )
    with (
        run_processor(data=folder / "books.sqlite3", clock=START, frozen=True) as processor,
        override_settings(STRIPE_API_KEY=processor.api_key, STRIPE_API_BASE=processor.base_url),
    ):
        yield make(processor, realm, staff)


def prove(world: World, *, runs: int, only_boundaries: bool = False) -> int:
    """Strike at every step of every act, let somebody go on, turn the clock, judge; 0 if all is explained."""
    began, tally = time.monotonic(), Tally()
    steps = {act: _steps_of(world, tally, act) for act in ACTS}
    for act, names in steps.items():
        print(
            f"{act}: {len(names)} steps, of them {names.count('before POST')} requests that change something"
        )
    points = list(_boundaries(steps) if only_boundaries else _points(steps))
    for act, how, at, following in _plan(points, runs):
        _strike(world, tally, act, how=how, at=at, following=following)
    live_through_the_keys_life(world, tally)
    return conclude(world, tally, name="crash", seconds=time.monotonic() - began)


def _points(steps: dict[str, list[str]]) -> Iterator[Point]:
    """Every step of every act, with each kind of strike."""
    for act, names in steps.items():
        for how in How:
            for at in range(1, len(names) + 1):
                yield act, how, at


def _boundaries(steps: dict[str, list[str]]) -> Iterator[Point]:
    """The steps between which nothing that outlives the process happens."""
    for act, names in steps.items():
        for at, name in enumerate(names, 1):
            if name in ("after COMMIT", "before POST", "after POST"):
                yield act, How.KILL, at


def _plan(points: list[Point], runs: int) -> Iterator[tuple[str, How, int, str]]:
    """Every point once; then round again with another sequel, up to `runs`."""
    rounds = -(-runs // len(points)) if runs > len(points) else 1
    done = 0
    for round_ in range(rounds):
        for place, (act, how, at) in enumerate(points):
            if round_ and done >= runs:
                return
            done += 1
            yield act, how, at, NEXT[(place + round_) % len(NEXT)]


def _set_the_scene(world: World, act: str) -> tuple[Story, Act]:
    """Tell the story up to the act that will be struck; return it and the act."""
    story = world.tell(act)
    if act == "charge":
        return story, world.agent(story, "toolu_1")
    if act == "refund":
        world.agent(story, "toolu_1")()
        world.approve_refund(story)
        return story, world.refunder(story)
    puller = world.puller(story)
    world.charge_without_hearing(story)
    return story, puller if act == "events" else world.sweeper(story)


def _steps_of(world: World, tally: Tally, act: str) -> list[str]:
    """Run the act once to its end and return its steps."""
    story, work = _set_the_scene(world, act)
    ended = processes.run(work, is_loud=True)
    if ended.has_failed:
        raise SystemExit(f"{act} fails without being struck")
    tally.stories.append(story)
    return ended.steps


def _strike(world: World, tally: Tally, act: str, *, how: How, at: int, following: str) -> None:
    story, work = _set_the_scene(world, act)
    ended = processes.run(work, at=at, how=how)
    if how == How.KILL and not ended.was_killed:
        tally.wrong.append(f"{act} was not killed at step {at}")
    tally.struck(story, act, how, at)
    if act == "charge":
        follow(world, tally, story, following)
    else:
        run(tally, work, story)
