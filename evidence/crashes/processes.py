"""Running an act in a process of its own, which may be struck at a step."""

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from django.db import connections

from evidence.crashes.steps import How, Steps


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended; `steps` are known only where it came to its end."""

    was_killed: bool
    has_failed: bool
    steps: list[str]


def run(act: Callable[[], None], *, at: int = 0, how: How = How.KILL, is_loud: bool = False) -> Ended:
    """Fork, run `act` with its steps counted, and wait for the end.

    The parent's connections are closed first: two processes on one would talk into each other.
    """
    connections.close_all()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_the_child(act, Steps(at=at, how=how), writing, is_loud=is_loud)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return Ended(
        was_killed=was_killed,
        has_failed=not was_killed and os.waitstatus_to_exitcode(status) != 0,
        steps=json.loads(said) if said else [],
    )


def _be_the_child(act: Callable[[], None], steps: Steps, writing: int, *, is_loud: bool) -> None:
    status = 1
    try:
        steps.watch()
        act()
        status = 0
    finally:
        # An application's job that fails: its supervisor starts another. Unexpected ones are shown.
        if status and is_loud:
            traceback.print_exc(file=sys.stderr)
        os.write(writing, json.dumps(steps.names).encode())
        os._exit(status)
