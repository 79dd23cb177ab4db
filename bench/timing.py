"""How measurements are taken: in turn, by medians, on two cores where there are two."""

import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import psycopg

WARM_UP = 20


@cache
def plain_connection() -> psycopg.Connection:
    """A connection past Django, for what people write themselves; autocommit."""
    from django.db import connection

    connection.ensure_connection()
    return psycopg.connect(
        connection.connection.info.dsn, password=connection.connection.info.password, autocommit=True
    )


def unpin() -> None:
    """Let this process, and those it starts, run on every core again."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def pin() -> None:
    """Put this process on one core and its database connections on another.

    On one core a round trip costs a sixth of what it costs on two, so that what
    the scheduler happens to do would decide the ratio.
    """
    from django.db import connection

    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < 2:
        return
    connection.ensure_connection()
    os.sched_setaffinity(0, {cores[0]})
    for open_connection in (connection.connection, plain_connection()):
        try:
            os.sched_setaffinity(open_connection.info.backend_pid, {cores[1]})
        except (PermissionError, ProcessLookupError):
            sys.stdout.write("  (the server's processes cannot be pinned from here)\n")
            return


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds: the median, and the lower tenth, which is what it takes while nobody disturbs."""

    median: float
    quiet: float


def in_turn(
    ways: Mapping[str, Callable[[int], object]], *, choices: int, rounds: int, is_read: bool = True
) -> dict[str, Taken]:
    """Run each way in each round, in another order each time."""
    rng = random.Random(1)
    names = list(ways)
    for name in names:
        for _ in range(WARM_UP):
            ways[name](rng.randrange(choices))
    taken: dict[str, list[int]] = {name: [] for name in names}
    for _ in range(rounds):
        choice = rng.randrange(choices)
        for name in rng.sample(names, len(names)):
            if is_read:
                # Warm for every way: the first to come would pay for all.
                ways[name](choice)
            began = time.perf_counter_ns()
            ways[name](choice)
            taken[name].append(time.perf_counter_ns() - began)
    return {name: _summary(times) for name, times in taken.items()}


def _summary(nanoseconds: list[int]) -> Taken:
    return Taken(
        median=statistics.median(nanoseconds) / 1e6, quiet=statistics.quantiles(nanoseconds, n=10)[0] / 1e6
    )


def table(found: Mapping[str, Taken], *, beside: tuple[str, ...]) -> None:
    for name, taken in found.items():
        ratios = "  ".join(
            f"{taken.median / found[base].median:5.2f} ({taken.quiet / found[base].quiet:5.2f}) x {base}"
            for base in beside
        )
        sys.stdout.write(f"  {name:<28} {taken.median:8.3f} ({taken.quiet:7.3f}) ms  {ratios}\n")


def ratio_within(found: Mapping[str, Taken], name: str, base: str, most: float) -> bool:
    """Judge a ratio by the medians; beside it, in the tables, stands that of the quiet tenths."""
    return within(name, found[name].median / found[base].median, most, f"x {base}")


def within(name: str, value: float, most: float, unit: str) -> bool:
    """Print the figure beside its bound; return whether it keeps to it."""
    verdict = "ok" if value <= most else "MISSED"
    sys.stdout.write(f"{name}: {value:.2f} {unit} (at most {most}) {verdict}\n")
    return value <= most


def at_least(name: str, value: float, least: float, unit: str) -> bool:
    verdict = "ok" if value >= least else "MISSED"
    sys.stdout.write(f"{name}: {value:.0f} {unit} (at least {least:.0f}) {verdict}\n")
    return value >= least
