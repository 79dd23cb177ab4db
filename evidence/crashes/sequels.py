"""What follows a strike, what must be true of it in the end, and how the proof says so."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from evidence.crashes import processes
from evidence.crashes.judging import judge
from evidence.crashes.stories import Story, World
from ledger.processors import STRIPE
from ledger.services import pulling

START = "2026-03-09T14:03:00Z"
GOES_ON, SWEPT_FIRST, EDITED, NOBODY = (
    "the agent goes on",
    "the sweeper looks, then the agent goes on",
    "the question is edited, the agent goes on there",
    "nobody comes until the key's life is over",
)
NEXT = (GOES_ON, SWEPT_FIRST, EDITED, NOBODY)

type Act = Callable[[], None]


@dataclass
class Tally:
    """What was struck, and what must be true of it in the end."""

    stories: list[Story] = field(default_factory=list)
    strikes: Counter[tuple[str, str]] = field(default_factory=Counter)
    points: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    followed: Counter[str] = field(default_factory=Counter)
    late: list[Story] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def struck(self, story: Story, who: str, how: str, at: int) -> None:
        self.stories.append(story)
        self.strikes[who, how] += 1
        self.points[who, how, at] += 1


def follow(world: World, tally: Tally, story: Story, following: str) -> None:
    """Let come after a strike on the agent what `following` says."""
    tally.followed[following] += 1
    if following == NOBODY:
        story.wants = False
        tally.late.append(story)
        return
    if following == SWEPT_FIRST:
        run(tally, world.sweeper(story), story)
    if following == EDITED:
        world.edit(story)
        tally.late.append(story)
    run(tally, world.agent(story, story.branches[-1]), story)


def run(tally: Tally, act: Act, story: Story) -> None:
    """Run what follows a strike in a process of its own; that one must come to its end."""
    if processes.run(act, is_loud=True).has_failed:
        tally.wrong.append(f"story {story.number} ({story.kind}): what followed failed")


def live_through_the_keys_life(world: World, tally: Tally) -> None:
    """Turn the clock past the keys' life, sweep, let late agents come, and hear every event once more."""
    for story in tally.late:
        run(tally, world.sweeper(story), story)
    world.processor.turn_clock(seconds=26 * 3600)
    for story in tally.late:
        run(tally, world.sweeper(story), story)
        run(tally, world.agent(story, story.branches[-1]), story)
    since = datetime.fromisoformat(START).astimezone(UTC)
    now = world.now()
    pulling.pull(processor=STRIPE, since=since, until=now + timedelta(seconds=1), now=now)


def conclude(world: World, tally: Tally, *, name: str, seconds: float) -> int:
    """Judge by the processor's books and say what was found; 0 if all is explained."""
    books = world.processor.books()
    wrong = tally.wrong + judge(tally.stories, books)
    for line in wrong:
        print(f"  UNEXPLAINED {line}")
    _report(tally, len(wrong), books, name=name, seconds=seconds)
    return 1 if wrong else 0


def _report(tally: Tally, wrong: int, books: dict[str, Any], *, name: str, seconds: float) -> None:
    for (who, how), number in sorted(tally.strikes.items()):
        points = len({at for act, kind, at in tally.points if (act, kind) == (who, how)})
        print(f"{who:<12} {how:<24} {number:>4} runs over {points} points")
    for following, number in tally.followed.items():
        print(f"after a strike on the agent: {following}: {number}")
    wanted = sum(story.wants for story in tally.stories)
    charged = Counter(charge["customer"] for charge in books["charges"])
    print(
        f"{name}: {sum(tally.strikes.values())} runs over {len(tally.points)} points,"
        f" {len(tally.stories)} customers, {wanted} charges intended of those whose agent came back,"
        f" {len(books['charges'])} charges and {len(books['refunds'])} refunds in the processor's books,"
        f" {sum(number > 1 for number in charged.values())} customers charged twice,"
        f" {wrong} unexplained, {seconds:.0f} s"
    )
