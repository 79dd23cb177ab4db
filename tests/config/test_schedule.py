"""When beat starts what is due: by the clock, and not by when beat was started."""

import copy
from datetime import UTC, datetime, timedelta

import pytest

from config.schedule import BEAT_SCHEDULE, Beat
from jobs.services.starting import beat_of

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-{text}+00:00")


def beat(every: timedelta, now: datetime) -> Beat:
    return Beat(every, nowfun=lambda: now)


@pytest.mark.parametrize(
    ("every", "last", "now", "is_due", "seconds"),
    [
        # Started anew in the afternoon: what is due once a day is due after midnight, not a day later.
        (DAY, "24 14:03:00", "24 23:59:50", False, 40),
        (DAY, "24 14:03:00", "25 00:00:10", False, 20),
        (DAY, "24 14:03:00", "25 00:00:30", True, 86_400),
        # Away over midnight: due as soon as it is back, and then by the clock again.
        (DAY, "24 14:03:00", "25 09:00:30", True, 15 * 3600),
        (DAY, "25 00:00:31", "25 23:00:30", False, 3600),
        (6 * 60 * MINUTE, "24 14:03:00", "24 18:00:30", True, 6 * 3600),
        (MINUTE, "24 14:03:06", "24 14:04:05", False, 1),
        (MINUTE, "24 14:03:06", "24 14:04:06", True, 60),
    ],
)
def test_a_beat_is_due_just_after_each_multiple_of_its_interval(every, last, now, is_due, seconds):
    due = beat(every, at(now)).is_due(at(last))

    assert (due.is_due, due.next) == (is_due, seconds)


def test_a_worker_whose_clock_is_behind_takes_it_for_the_same_interval():
    now = at("25 00:00:30")

    assert beat(DAY, now).is_due(at("24 14:03:00")).is_due
    assert beat_of(now=now - timedelta(seconds=29), every=DAY) == datetime(2026, 11, 25, tzinfo=UTC)


def test_the_schedule_is_kept_over_a_restart():
    """Beat keeps its entries in a file, and so they are copied."""
    schedules = [entry["schedule"] for entry in BEAT_SCHEDULE.values()]

    kept = copy.deepcopy(schedules)

    assert all(isinstance(one, Beat) for one in kept)
    assert [one.run_every for one in kept] == [one.run_every for one in schedules]
