"""What waits for finance: decisions on refunds, findings, and money that nobody can place."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import Count, F, Min, Q, QuerySet, Sum
from django.db.models.expressions import CombinedExpression
from django.urls import reverse

from access.reach import Reach
from access.rights import RightName
from console.home.waiting import Asked, Waiting, is_older, size_of, sums_of
from ledger.models import Compensation, Dispute, Finding, ToolEffect
from ledger.querysets import abandoned, not_paid_back
from ledger.reconciliation.vocabulary import FindingState
from ledger.vocabulary import CompensationState, EffectState, Operation

# An answer that has not come for a day is late: processors' own retries end before.
_UNKNOWN_LATE: Final = timedelta(days=1)
_DECISION_LATE: Final = timedelta(days=2)


def _decisions(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    return _money(
        _compensations(reach, CompensationState.REQUESTED).exclude(requested_by=user),
        "Refunds that wait for your decision",
        since="requested_at",
        url=reverse("console:refunds") + "?state=requested",
        step="Decide",
        is_late=lambda oldest: is_older(oldest, now, _DECISION_LATE),
    )


def _own_requests(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    return _money(
        _compensations(reach, CompensationState.REQUESTED).filter(requested_by=user),
        "Refunds you asked for, not decided yet",
        since="requested_at",
        url=reverse("console:refunds") + "?state=requested",
        step="Look",
    )


def _unknown_outcomes(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    return _money(
        ToolEffect.objects.filter(reach.within("realm_id"), state=EffectState.PENDING, sent_at__isnull=False),
        "Effects sent, answer unknown",
        since="requested_at",
        url=reverse("console:effects") + "?state=unknown",
        step="Look",
        is_late=lambda oldest: is_older(oldest, now, _UNKNOWN_LATE),
    )


def _disputes(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    return _money(
        Dispute.objects.filter(reach.within("effect__realm_id"), closed_at=None, effect__isnull=False),
        "Disputes open",
        since="opened_at",
        url=reverse("console:effects") + "?is_disputed=true",
        step="Look",
    )


def _abandoned_charges(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    return _money(
        abandoned(ToolEffect.objects.filter(reach.within("realm_id"), operation=Operation.CHARGE)),
        "Applied charges on abandoned branches",
        since="requested_at",
        url=reverse("console:abandoned"),
        step="Review",
        amount=F("amount_settled_minor") - F("amount_compensated_minor"),
    )


def _lost_refunds(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    return _money(
        not_paid_back(ToolEffect.objects.filter(reach.within("realm_id"))),
        "Refunds that failed after they had settled",
        since="failed_at",
        url=reverse("console:refunds") + "?state=failed",
        step="Ask again",
        is_late=lambda oldest: True,
    )


def _findings(user: User, reach: Reach, now: datetime) -> Iterator[Waiting]:
    """Those of the one who looks, and those that nobody has taken; others' are theirs. One query."""
    mine, nobodys = Q(assigned_to=user.pk), Q(assigned_to=None)
    found = (
        Finding.objects.filter(reach.within("realm_id"), mine | nobodys, state=FindingState.OPEN)
        .order_by()
        .values_list("assigned_to", "currency")
        .annotate(count=Count("pk"), oldest=Min("first_seen_at"), due=Min("due_at"), sum=Sum("amount_minor"))
    )
    rows = list(found)
    for owner, name, what, step in (
        (user.pk, "mine", "Findings that are yours", "Settle"),
        (None, "nobody", "Findings that nobody has taken", "Take or settle"),
    ):
        of_owner = [row for row in rows if row[0] == owner]
        if of_owner:
            sums = [(int(row[5]), row[1]) for row in of_owner if row[1] and row[5]]
            yield Waiting(
                "Finance",
                what,
                sum(row[2] for row in of_owner),
                min(row[3] for row in of_owner),
                reverse("console:findings") + f"?state=open&owner={name}",
                step,
                is_late=min(row[4] for row in of_owner) < now,
                amounts=sorted(sums, reverse=True),
            )


def _money(
    waiting: QuerySet[Any],
    what: str,
    *,
    since: str,
    url: str,
    step: str,
    is_late: Callable[[datetime | None], bool] = lambda oldest: False,
    amount: str | CombinedExpression = "amount_minor",
) -> Iterator[Waiting]:
    """Yield the line of what waits, with its sums; none where nothing does."""
    count, oldest = size_of(waiting, since)
    if count:
        sums = sums_of(waiting, amount)
        yield Waiting("Finance", what, count, oldest, url, step, is_late=is_late(oldest), amounts=sums)


def _compensations(reach: Reach, state: CompensationState) -> QuerySet[Compensation]:
    return Compensation.objects.filter(reach.within("effect__realm_id"), state=state)


FINANCE: Final[tuple[tuple[RightName, Asked], ...]] = (
    (RightName.APPROVE_COMPENSATION, _decisions),
    (RightName.REQUEST_COMPENSATION, _own_requests),
    (RightName.RESOLVE_FINDINGS, _findings),
    (RightName.RECONCILE, _lost_refunds),
    (RightName.RECONCILE, _unknown_outcomes),
    (RightName.RECONCILE, _disputes),
    (RightName.RECONCILE, _abandoned_charges),
)
