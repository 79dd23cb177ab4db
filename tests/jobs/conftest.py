"""What the tests of jobs share: runs asked for at a known moment, and a clock that can be turned."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.models import JobRun
from jobs.services import starting
from jobs.services.starting import start_job

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def start(db: None) -> Callable[..., JobRun]:
    def make(**given: Any) -> JobRun:
        return start_job(
            **{"kind": "tests.count", "requested_by": ("staff", "7"), "now": NOW, "reason": "asked", **given}
        )

    return make


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that a worker was told of; the broker itself is tried in its own test."""
    sent: list[str] = []

    def send(name: str, *, args: list[str], **given: Any) -> None:
        sent.append(args[0])

    monkeypatch.setattr(starting.current_app, "send_task", send)
    return sent
