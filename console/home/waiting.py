"""One line of what waits, and how it is counted. All that is counted stands in a partial index."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Min, QuerySet, Sum
from django.db.models.expressions import CombinedExpression

from access.reach import Reach


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


type Asked = Callable[[User, Reach, datetime], Iterable[Waiting]]


def size_of(rows: QuerySet[Any], moment: str) -> tuple[int, datetime | None]:
    found = rows.order_by().aggregate(count=Count("pk"), oldest=Min(moment))
    return found["count"], found["oldest"]


def sums_of(rows: QuerySet[Any], amount: str | CombinedExpression) -> list[tuple[int, str]]:
    sums = rows.order_by().values_list("currency").annotate(total=Sum(amount)).order_by("-total")
    return [(int(total), currency) for currency, total in sums if total and currency]


def is_older(moment: datetime | None, now: datetime, limit: timedelta) -> bool:
    return moment is not None and now - moment > limit
