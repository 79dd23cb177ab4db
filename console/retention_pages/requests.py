"""What the erasure desk shows of a request: its clock, its stages, its steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from retention.erasure.job import STEPS
from retention.models import ErasureRequest, ErasureStep
from retention.vocabulary import RequestState

SOON = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Clock:
    """How far the term has run. `look` is a shape: waiting, late with a week left, failed when it is over."""

    day: int
    days: int
    left: int
    look: str
    word: str


def clock_of(request: ErasureRequest, *, now: datetime) -> Clock:
    days = (request.due_at - request.received_at).days
    at = request.finished_at or now
    day = min(max((at - request.received_at).days, 0), days)
    left = (request.due_at - now).days
    if request.finished_at is not None:
        return Clock(day, days, left, "done", request.get_state_display())
    if now > request.due_at:
        return Clock(days, days, left, "failed", f"{(now - request.due_at).days} days over")
    if request.due_at - now < SOON:
        return Clock(day, days, left, "late", f"{left} days left")
    return Clock(day, days, left, "waiting", f"{left} days left")


@dataclass(frozen=True, slots=True)
class Stage:
    label: str
    at: datetime | None
    is_current: bool

    @property
    def look(self) -> str:
        return "done" if self.at else ("running" if self.is_current else "waiting")


def stages_of(request: ErasureRequest) -> list[Stage]:
    """Return the stages from intake to receipt; the first without a time is where the request stands."""
    receipt = getattr(request, "receipt", None)
    moments = [
        ("Intake", request.received_at),
        ("Identity checked", request.identity_checked_at),
        ("Preview", request.previewed_at),
        ("Approved", request.approved_at),
        ("Execution", request.finished_at if request.state == RequestState.DONE else None),
        ("Receipt", receipt.made_at if receipt else None),
    ]
    current = next((label for label, at in moments if at is None), "")
    return [Stage(label, at, label == current and request.is_open) for label, at in moments]


@dataclass(frozen=True, slots=True)
class ShownStep:
    row: ErasureStep
    title: str

    @property
    def rows(self) -> int:
        return sum(self.row.erased.values()) + sum(self.row.pseudonymised.values())


def steps_of(request: ErasureRequest) -> list[ShownStep]:
    return [ShownStep(row, STEPS[row.place].title) for row in request.steps.order_by("place")]


def shown_rows(requests: Sequence[ErasureRequest], *, now: datetime) -> list[dict[str, Any]]:
    return [{"request": one, "clock": clock_of(one, now=now)} for one in requests]
