"""What waits for whoever runs the installation: events, jobs, and what could not be read as it came."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count, Min
from django.urls import reverse

from access.reach import Reach
from access.rights import RightName
from console.filtering import days_back, stamp
from console.home.waiting import Asked, Waiting, size_of
from conversations.models import RawBody
from conversations.vocabulary import RawClass
from jobs.models import JobRun, RunState
from ledger.integrity.verifying import KIND as INTEGRITY
from ledger.models import WebhookEvent

_FAILED_JOBS_SINCE: Final = timedelta(days=7)
_QUARANTINED_DAYS: Final = 7
_TROUBLED_DAYS: Final = 7


def _events(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    """What was made outside is never applied: events of before were looked at, or never will be."""
    # One that no effect knows is of no realm, and the page is for who sees them all.
    if not reach.sees_all:
        return
    since = days_back(_TROUBLED_DAYS, now=now)
    troubled = WebhookEvent.objects.exclude(trouble="").filter(received_at__gte=since)
    count, oldest = size_of(troubled, "received_at")
    if count:
        yield Waiting(
            "Operations",
            "Events of processors of the last 7 days that could not be applied",
            count,
            oldest,
            reverse("console:events")
            + "?"
            + urlencode({"has_trouble": "true", "received_since": stamp(since)}),
            "Reprocess",
        )


def _failed_jobs(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    failed = JobRun.objects.filter(state=RunState.FAILED, queued_at__gte=now - _FAILED_JOBS_SINCE)
    count, oldest = size_of(failed, "finished_at")
    if count:
        yield Waiting(
            "Operations",
            "Jobs that failed in the last 7 days",
            count,
            oldest,
            reverse("console:job-runs") + "?state=failed",
            "Read the error",
            is_late=True,
        )


def _integrity(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    """Rules of the last integrity run that did not hold: an archive file that is missing, a broken tree."""
    last = JobRun.objects.filter(kind=INTEGRITY, state=RunState.SUCCEEDED).order_by("-queued_at").first()
    rules = (last.report or {}).get("rules", {}) if last is not None else {}
    broken = sum(rule["broken"] > 0 for rule in rules.values())
    if last is not None and broken:
        yield Waiting(
            "Operations",
            "Rules of the store that do not hold",
            broken,
            last.finished_at,
            reverse("console:job-run", args=[last.pk]),
            "Read which, and where",
            is_late=True,
        )


def _quarantine(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    """Conversations with nodes that are no messages; those of before were looked at, or never will be."""
    since = days_back(_QUARANTINED_DAYS, now=now)
    found = RawBody.objects.filter(
        reach.within("conversation__account__realm_id"),
        raw_class=RawClass.QUARANTINE,
        created_at__gte=since,
        conversation__isnull=False,
    ).aggregate(count=Count("conversation", distinct=True), oldest=Min("created_at"))
    if found["count"]:
        yield Waiting(
            "Operations",
            "Conversations with quarantined nodes of the last 7 days",
            found["count"],
            found["oldest"],
            reverse("console:conversations") + "?" + urlencode({"quarantined_since": stamp(since)}),
            "Look at the place and the reason",
        )


OPERATIONS: Final[tuple[tuple[RightName, Asked], ...]] = (
    (RightName.REPROCESS_EVENTS, _events),
    (RightName.READ_JOBS, _failed_jobs),
    (RightName.READ_JOBS, _integrity),
    (RightName.READ_RAW, _quarantine),
)
