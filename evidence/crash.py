"""`script/evidence crash [--runs 200]`: processes are killed at every step of a charge and a refund.

A real agent process charges through Stripe's own SDK against the sandbox processor while it, a
worker, or its database connection is killed: at every statement, every commit and every
request, before and after. Whoever comes next goes on: the agent again, the sweeper, the events,
an edited question on another branch, or nobody until the keys' life is over. Then the
processor's books are read, customer by customer. The clock is the sandbox's, and is turned.
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.test import override_settings

from access.models import Realm
from evidence.crashes import processes
from evidence.crashes.judging import judge
from evidence.crashes.steps import How
from evidence.crashes.stories import Story, World
from ledger.processors import STRIPE
from ledger.services import pulling
from ledger.services.policies import save_policy
from samples.processor.process import run_processor

START = "2026-03-09T14:03:00Z"
# What follows a strike on the agent.
GOES_ON, SWEPT_FIRST, EDITED, NOBODY = (
    "the agent goes on",
    "the sweeper looks, then the agent goes on",
    "the question is edited, the agent goes on there",
    "nobody comes until the key's life is over",
)
NEXT = (GOES_ON, SWEPT_FIRST, EDITED, NOBODY)
ACTS = ("charge", "sweep", "events", "refund")

type Act = Callable[[], None]
type Point = tuple[str, How, int]


@dataclass
class Tally:
    """What was struck, and what must be true of it in the end."""

    stories: list[Story] = field(default_factory=list)
    strikes: Counter[tuple[str, str]] = field(default_factory=Counter)
    points: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)
    late: list[Story] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="script/evidence crash")
    parser.add_argument("--runs", type=int, default=200, help="at least so many (default 200)")
    parser.add_argument(
        "--boundaries", action="store_true", help="strike at commits and requests only, by killing only"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, world_in(Path(folder)) as world:
        return prove(world, runs=options.runs, only_boundaries=options.boundaries)


@contextmanager
def world_in(folder: Path) -> Iterator[World]:
    """A realm with one tool and two people, and the sandbox with a clock that only we turn."""
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
        yield World(processor, realm, staff)


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
    _live_through_the_keys_life(world, tally)
    books = world.processor.books()
    wrong = tally.wrong + judge(tally.stories, books)
    for line in wrong:
        print(f"  UNEXPLAINED {line}")
    _report(tally, len(wrong), books, seconds=time.monotonic() - began)
    return 1 if wrong else 0


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
    tally.stories.append(story)
    tally.strikes[act, how] += 1
    tally.points[act, how, at] += 1
    if act == "charge":
        tally.followed[following] += 1
        _follow(world, tally, story, following)
    else:
        _run(tally, work, story)


def _follow(world: World, tally: Tally, story: Story, following: str) -> None:
    if following == NOBODY:
        story.wants = False
        tally.late.append(story)
        return
    if following == SWEPT_FIRST:
        _run(tally, world.sweeper(story), story)
    if following == EDITED:
        world.edit(story)
        tally.late.append(story)
    _run(tally, world.agent(story, story.branches[-1]), story)


def _live_through_the_keys_life(world: World, tally: Tally) -> None:
    """Turn the clock past the keys' life, sweep, let late agents come, and hear every event once more."""
    for story in tally.late:
        _run(tally, world.sweeper(story), story)
    world.processor.turn_clock(seconds=26 * 3600)
    for story in tally.late:
        _run(tally, world.sweeper(story), story)
        _run(tally, world.agent(story, story.branches[-1]), story)
    since = datetime.fromisoformat(START).astimezone(UTC)
    now = world.now()
    pulling.pull(processor=STRIPE, since=since, until=now + timedelta(seconds=1), now=now)


def _run(tally: Tally, act: Act, story: Story) -> None:
    """Run what follows a strike in a process of its own; that one must come to its end."""
    if processes.run(act, is_loud=True).has_failed:
        tally.wrong.append(f"story {story.number} ({story.kind}): what followed failed")


def _report(tally: Tally, wrong: int, books: dict, *, seconds: float) -> None:
    for (act, how), number in sorted(tally.strikes.items()):
        points = len({at for name, kind, at in tally.points if (name, kind) == (act, how)})
        print(f"{act:<8} {how:<24} {number:>4} runs over {points} points")
    for following, number in tally.followed.items():
        print(f"after a strike on the agent: {following}: {number}")
    wanted = sum(story.wants for story in tally.stories)
    charged = Counter(charge["customer"] for charge in books["charges"])
    print(
        f"crash: {sum(tally.strikes.values())} runs over {len(tally.points)} points,"
        f" {len(tally.stories)} customers, {wanted} charges intended of those whose agent came back,"
        f" {len(books['charges'])} charges and {len(books['refunds'])} refunds in the processor's books,"
        f" {sum(number > 1 for number in charged.values())} customers charged twice,"
        f" {wrong} unexplained, {seconds:.0f} s"
    )
