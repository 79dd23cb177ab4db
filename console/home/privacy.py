"""What waits for privacy: erasures with their clock, and decisions that take a second person."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Count, Min
from django.urls import reverse

from access.reach import Reach
from access.rights import RightName
from console.home.waiting import Asked, Waiting, is_older, size_of
from retention.querysets import holds_within, requests_within
from retention.vocabulary import RequestState

# The clock of a request turns to late this long before its day: see docs/privacy.md.
_DUE_SOON: Final = timedelta(days=7)
_DECISION_LATE: Final = timedelta(days=2)


def _erasures(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    found = (
        requests_within(reach)
        .filter(finished_at=None)
        .order_by()
        .aggregate(count=Count("pk"), oldest=Min("received_at"), due=Min("due_at"))
    )
    if found["count"]:
        yield Waiting(
            "Privacy",
            "Erasure requests that are open",
            found["count"],
            found["oldest"],
            reverse("console:erasures"),
            "Go on",
            is_late=found["due"] - now < _DUE_SOON,
        )


def _approvals(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = requests_within(reach).filter(state=RequestState.PREVIEWED).exclude(taken_in_by=user)
    # One that an application took in has its first person in who checked the identity.
    waiting = waiting.exclude(taken_in_by_key__isnull=False, identity_checked_by=user)
    count, oldest = size_of(waiting, "previewed_at")
    if count:
        yield Waiting(
            "Privacy",
            "Erasures that wait for your approval",
            count,
            oldest,
            reverse("console:erasures") + f"?state={RequestState.PREVIEWED}",
            "Decide",
            is_late=is_older(oldest, now, _DECISION_LATE),
        )


def _releases(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = (
        holds_within(reach)
        .filter(released_at=None, release_requested_at__isnull=False)
        .exclude(release_requested_by=user)
    )
    count, oldest = size_of(waiting, "release_requested_at")
    if count:
        yield Waiting(
            "Privacy",
            "Releases of holds that wait for a second person",
            count,
            oldest,
            reverse("console:holds") + "?release=asked",
            "Decide",
            is_late=is_older(oldest, now, _DECISION_LATE),
        )


PRIVACY: Final[tuple[tuple[RightName, Asked], ...]] = (
    (RightName.HANDLE_ERASURES, _erasures),
    (RightName.APPROVE_ERASURES, _approvals),
    (RightName.RELEASE_HOLDS, _releases),
)
