"""Reads of the reconciliation with a name: the desk, its ageing, what blocks a purge."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet, Sum

from ledger.models import Finding, ReconciliationRun, RunRow
from ledger.reconciliation.vocabulary import FindingState

SOON = timedelta(days=2)


@dataclass(slots=True)
class AgeBand:
    """Open findings of one age: how many, and what each currency adds up to."""

    name: str
    label: str
    number: int = 0
    amounts: dict[str, int] = field(default_factory=dict)


def ageing(findings: QuerySet[Finding], *, now: datetime) -> list[AgeBand]:
    """Sum up open findings by when they are due; one query. Currencies are never added to each other."""
    bands = {
        "late": AgeBand("late", "Past due"),
        "soon": AgeBand("soon", "Due within 2 days"),
        "later": AgeBand("later", "Later"),
    }
    late, soon = Q(due_at__lt=now), Q(due_at__gte=now, due_at__lt=now + SOON)
    rows = (
        findings.filter(state=FindingState.OPEN)
        .order_by()
        .values("currency")
        .annotate(
            late=Count("pk", filter=late),
            soon=Count("pk", filter=soon),
            every=Count("pk"),
            late_sum=Sum("amount_minor", filter=late),
            soon_sum=Sum("amount_minor", filter=soon),
            every_sum=Sum("amount_minor"),
        )
        .order_by("currency")
    )
    for row in rows:
        later = row["every"] - row["late"] - row["soon"]
        sums = {
            "late": int(row["late_sum"] or 0),
            "soon": int(row["soon_sum"] or 0),
            "every": int(row["every_sum"] or 0),
        }
        for name, number, amount in (
            ("late", row["late"], sums["late"]),
            ("soon", row["soon"], sums["soon"]),
            ("later", later, sums["every"] - sums["late"] - sums["soon"]),
        ):
            bands[name].number += number
            if number and row["currency"]:
                bands[name].amounts[row["currency"]] = amount
    return list(bands.values())


@dataclass(frozen=True, slots=True)
class Share:
    """Whose open findings: nobody's, yours, others'."""

    name: str
    label: str
    number: int
    late: int


def shares(findings: QuerySet[Finding], *, user_id: int, now: datetime) -> list[Share]:
    """Count open findings by owner, in one query."""
    nobody, mine = Q(assigned_to=None), Q(assigned_to=user_id)
    others = ~nobody & ~mine
    late = Q(due_at__lt=now)
    counted = findings.filter(state=FindingState.OPEN).aggregate(
        nobody=Count("pk", filter=nobody),
        nobody_late=Count("pk", filter=nobody & late),
        mine=Count("pk", filter=mine),
        mine_late=Count("pk", filter=mine & late),
        others=Count("pk", filter=others),
        others_late=Count("pk", filter=others & late),
    )
    return [
        Share(name, label, counted[name], counted[f"{name}_late"])
        for name, label in (("nobody", "Nobody"), ("mine", "You"), ("others", "Others"))
    ]


def latest_run(realm_ids: Q) -> ReconciliationRun | None:
    finished = ReconciliationRun.objects.filter(realm_ids).exclude(finished_at=None)
    return finished.order_by("-requested_at", "-id").first()


def waiting_rows(run: ReconciliationRun) -> QuerySet[RunRow]:
    return RunRow.objects.filter(run=run, is_waiting=True)
