"""What needs attention, by right: how many, since when, how much, and the page where it is done."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.urls import reverse

from access.permissions import holds
from access.reach import Reach
from access.rights import RightName
from console.home.finance import FINANCE
from console.home.operations import OPERATIONS
from console.home.privacy import PRIVACY
from console.home.waiting import Asked, Waiting, is_older, size_of
from ledger.models import GuardQuestion

_QUESTION_LATE: Final = timedelta(hours=4)


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    rows: list[Waiting]


def needs_attention(*, user: User, reach: Reach, now: datetime) -> list[Section]:
    """Return what waits for `user`, late things first; one or two queries for each kind of thing."""
    found = [line for right, ask in _ASKED if holds(user, right) for line in ask(user, reach, now)]
    sections: dict[str, list[Waiting]] = {}
    for line in sorted(found, key=lambda line: not line.is_late):
        sections.setdefault(line.section, []).append(line)
    return [Section(title, sections[title]) for title in _SECTIONS if title in sections]


def _questions(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = GuardQuestion.objects.filter(reach.within("realm_id"), is_allowed=None)
    count, oldest = size_of(waiting, "asked_at")
    if count:
        yield Waiting(
            "Support",
            "Tool calls that wait for an answer",
            count,
            oldest,
            reverse("console:questions"),
            "Answer",
            is_late=is_older(oldest, now, _QUESTION_LATE),
        )


_ASKED: Final[tuple[tuple[RightName, Asked], ...]] = (
    (RightName.ANSWER_QUESTIONS, _questions),
    *FINANCE,
    *PRIVACY,
    *OPERATIONS,
)
_SECTIONS: Final = ("Support", "Finance", "Privacy", "Operations")
