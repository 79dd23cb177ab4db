"""What needs attention, by right: how many, since when, how much, and the page where it is done.

Everything counted here waits in a partial index, so that nothing counts a whole table.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, Min, QuerySet, Sum
from django.urls import reverse

from access.permissions import holds
from access.reach import Reach
from access.rights import RightName
from jobs.models import JobRun, RunState
from ledger.models import Compensation, Dispute, GuardQuestion, ToolEffect, WebhookEvent
from ledger.querysets import abandoned, not_paid_back
from ledger.vocabulary import CompensationState, EffectState

# An answer that has not come for a day is late: processors' own retries end before.
_UNKNOWN_LATE: Final = timedelta(days=1)
_QUESTION_LATE: Final = timedelta(hours=4)
_DECISION_LATE: Final = timedelta(days=2)
_FAILED_JOBS_SINCE: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Waiting:
    """One line. `amounts` are (minor, currency), the largest first; currencies are never added."""

    section: str
    what: str
    count: int
    oldest: datetime | None
    url: str
    step: str
    is_late: bool = False
    amounts: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    rows: list[Waiting]


def needs_attention(*, user: User, reach: Reach, now: datetime) -> list[Section]:
    """Return what waits for `user`, late things first; one query for each kind of thing they may do."""
    found = [line for right, ask in _ASKED if holds(user, right) for line in ask(user, reach, now)]
    sections: dict[str, list[Waiting]] = {}
    for line in sorted(found, key=lambda line: not line.is_late):
        sections.setdefault(line.section, []).append(line)
    return [Section(title, sections[title]) for title in _SECTIONS if title in sections]


def _questions(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = GuardQuestion.objects.filter(reach.within("realm_id"), is_allowed=None)
    count, oldest = _size(waiting, "asked_at")
    if count:
        yield Waiting(
            "Support",
            "Tool calls that wait for an answer",
            count,
            oldest,
            reverse("console:questions"),
            "Answer",
            is_late=_is_older(oldest, now, _QUESTION_LATE),
        )


def _decisions(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = _compensations(reach, CompensationState.REQUESTED).exclude(requested_by=user)
    count, oldest = _size(waiting, "requested_at")
    if count:
        yield Waiting(
            "Finance",
            "Refunds that wait for your decision",
            count,
            oldest,
            reverse("console:refunds") + "?state=requested",
            "Decide",
            is_late=_is_older(oldest, now, _DECISION_LATE),
            amounts=_sums(waiting, "amount_minor"),
        )


def _own_requests(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = _compensations(reach, CompensationState.REQUESTED).filter(requested_by=user)
    count, oldest = _size(waiting, "requested_at")
    if count:
        yield Waiting(
            "Finance",
            "Refunds you asked for, not decided yet",
            count,
            oldest,
            reverse("console:refunds") + "?state=requested",
            "Look",
            amounts=_sums(waiting, "amount_minor"),
        )


def _unknown_outcomes(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = ToolEffect.objects.filter(
        reach.within("realm_id"), state=EffectState.PENDING, sent_at__isnull=False
    )
    count, oldest = _size(waiting, "requested_at")
    if count:
        yield Waiting(
            "Finance",
            "Effects sent, answer unknown",
            count,
            oldest,
            reverse("console:effects") + "?state=unknown",
            "Look",
            is_late=_is_older(oldest, now, _UNKNOWN_LATE),
            amounts=_sums(waiting.exclude(amount_minor=None), "amount_minor"),
        )


def _disputes(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = Dispute.objects.filter(reach.within("effect__realm_id"), closed_at=None, effect__isnull=False)
    count, oldest = _size(waiting, "opened_at")
    if count:
        yield Waiting(
            "Finance",
            "Disputes open",
            count,
            oldest,
            reverse("console:effects") + "?is_disputed=true",
            "Look",
            amounts=_sums(waiting, "amount_minor"),
        )


def _abandoned_charges(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = abandoned(ToolEffect.objects.filter(reach.within("realm_id")))
    count, oldest = _size(waiting, "requested_at")
    if count:
        yield Waiting(
            "Finance",
            "Applied charges on abandoned branches",
            count,
            oldest,
            reverse("console:effects") + "?standing=abandoned&state=applied",
            "Review",
            amounts=_sums(waiting, "amount_settled_minor"),
        )


def _lost_refunds(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    waiting = not_paid_back(ToolEffect.objects.filter(reach.within("realm_id")))
    count, oldest = _size(waiting, "failed_at")
    if count:
        yield Waiting(
            "Finance",
            "Refunds that failed after they had settled",
            count,
            oldest,
            reverse("console:refunds") + "?state=failed",
            "Ask again",
            is_late=True,
            amounts=_sums(waiting, "amount_minor"),
        )


def _events(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    count, oldest = _size(WebhookEvent.objects.exclude(trouble=""), "received_at")
    if count:
        yield Waiting(
            "Operations",
            "Events of processors that could not be applied",
            count,
            oldest,
            reverse("console:events") + "?has_trouble=true",
            "Reprocess",
        )


def _failed_jobs(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    failed = JobRun.objects.filter(state=RunState.FAILED, queued_at__gte=now - _FAILED_JOBS_SINCE)
    count, oldest = _size(failed, "finished_at")
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


type Asked = Callable[[User, Reach, datetime], Iterable[Waiting]]
_ASKED: Final[tuple[tuple[RightName, Asked], ...]] = (
    (RightName.ANSWER_QUESTIONS, _questions),
    (RightName.APPROVE_COMPENSATION, _decisions),
    (RightName.REQUEST_COMPENSATION, _own_requests),
    (RightName.RECONCILE, _lost_refunds),
    (RightName.RECONCILE, _unknown_outcomes),
    (RightName.RECONCILE, _disputes),
    (RightName.RECONCILE, _abandoned_charges),
    (RightName.REPROCESS_EVENTS, _events),
    (RightName.READ_JOBS, _failed_jobs),
)
_SECTIONS: Final = ("Support", "Finance", "Operations")


def _compensations(reach: Reach, state: CompensationState) -> QuerySet[Compensation]:
    return Compensation.objects.filter(reach.within("effect__realm_id"), state=state)


def _size(rows: QuerySet[Any], moment: str) -> tuple[int, datetime | None]:
    found = rows.order_by().aggregate(count=Count("pk"), oldest=Min(moment))
    return found["count"], found["oldest"]


def _sums(rows: QuerySet[Any], amount: str) -> list[tuple[int, str]]:
    sums = rows.order_by().values_list("currency").annotate(total=Sum(amount)).order_by("-total")
    return [(int(total), currency) for currency, total in sums if total and currency]


def _is_older(moment: datetime | None, now: datetime, limit: timedelta) -> bool:
    return moment is not None and now - moment > limit
