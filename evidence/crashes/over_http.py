"""The proof over HTTP: the application and the web server are killed while an agent charges."""

import time
from collections.abc import Iterator

from evidence.crashes import processes
from evidence.crashes.remote import RemoteWorld
from evidence.crashes.sequels import NEXT, Tally, conclude, follow, live_through_the_keys_life
from evidence.crashes.steps import How

APPLICATION, SERVER = "application", "web server"

type Point = tuple[str, int]


def prove_over_http(world: RemoteWorld, *, runs: int) -> int:
    """Kill the one and the other at their steps, let somebody go on, judge; 0 if all is explained.

    Every step of the application is struck, and of the server as many as `runs` leave room for,
    spread evenly; all of them, again and again with another sequel, where there is more room.
    """
    began, tally = time.monotonic(), Tally()
    world.server.start()
    points = _points_of(world, tally)
    for place, (who, at) in enumerate(_plan(points, runs)):
        _strike(world, tally, who=who, at=at, following=NEXT[place % len(NEXT)])
    live_through_the_keys_life(world, tally)
    return conclude(world, tally, name="crash over HTTP", seconds=time.monotonic() - began)


def _points_of(world: RemoteWorld, tally: Tally) -> dict[str, int]:
    """Let one agent charge unharmed; return how many steps each side took."""
    _restart(world)
    story = world.tell("charge")
    ended = processes.run(world.agent(story, "toolu_1"), is_loud=True)
    if ended.has_failed:
        raise SystemExit("a charge over HTTP fails without being struck")
    served = world.server.steps()
    tally.stories.append(story)
    print(
        f"application: {len(ended.steps)} steps, of them {ended.steps.count('before POST')} to the processor"
    )
    print(f"web server: {len(served)} steps, of them {served.count('before COMMIT')} commits")
    return {APPLICATION: len(ended.steps), SERVER: len(served)}


def _plan(points: dict[str, int], runs: int) -> Iterator[Point]:
    ours, theirs = points[APPLICATION], points[SERVER]
    whole = [
        *((APPLICATION, at) for at in range(1, ours + 1)),
        *((SERVER, at) for at in range(1, theirs + 1)),
    ]
    if runs >= len(whole):
        for number in range(runs):
            yield whole[number % len(whole)]
        return
    room = max(runs - ours, 1)
    yield from whole[:ours]
    for number in range(room):
        yield SERVER, 1 + number * (theirs - 1) // max(room - 1, 1)


def _strike(world: RemoteWorld, tally: Tally, *, who: str, at: int, following: str) -> None:
    _restart(world, at=at if who == SERVER else 0)
    story = world.tell("charge")
    ended = processes.run(world.agent(story, "toolu_1"), at=at if who == APPLICATION else 0)
    was_killed = world.server.has_died() if who == SERVER else ended.was_killed
    if not was_killed:
        tally.wrong.append(f"the {who} was not killed at step {at}")
    tally.struck(story, who, How.KILL, at)
    _restart(world)
    follow(world, tally, story, following)


def _restart(world: RemoteWorld, *, at: int = 0) -> None:
    world.server.stop()
    world.server.start(at=at)
