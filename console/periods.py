"""The period that a page of sums looks at: days in the console's zone, the last one included."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django.http import QueryDict
from django.utils import timezone

from console.filtering import FilterGroup, filter_group

PRESETS: Final = (("7", "Last 7 days"), ("30", "Last 30 days"), ("90", "Last 90 days"), ("365", "Last year"))
LONGEST: Final = timedelta(days=1100)


@dataclass(frozen=True, slots=True)
class Period:
    """Half-open: `since` is the first moment, `until` the first one past the end."""

    since: datetime
    until: datetime

    @property
    def first_day(self) -> date:
        return timezone.localtime(self.since).date()

    @property
    def last_day(self) -> date:
        return timezone.localtime(self.until).date() - timedelta(days=1)

    @property
    def days(self) -> list[date]:
        count = (self.last_day - self.first_day).days + 1
        return [self.first_day + timedelta(days=number) for number in range(count)]

    @property
    def query(self) -> str:
        return f"from={self.first_day}&to={self.last_day}"


def read_period(query: QueryDict, *, now: datetime, days: int = 30) -> Period:
    """Read `from` and `to` (days), or `days` until today; what cannot be read is the usual period."""
    today = timezone.localtime(now).date()
    chosen = query.get("days", "")
    if chosen in dict(PRESETS):
        days = int(chosen)
    first = _day(query.get("from", ""))
    last = _day(query.get("to", "")) or today
    first = first or last - timedelta(days=days - 1)
    if not timedelta(0) <= last - first <= LONGEST:
        first, last = today - timedelta(days=days - 1), today
    return Period(_midnight(first), _midnight(last + timedelta(days=1)))


def period_group(query: QueryDict) -> FilterGroup:
    """Return the links to the usual periods; a chosen one lifts days that were typed."""
    plain = query.copy()
    for name in ("from", "to"):
        plain.pop(name, None)
    return filter_group(query=plain, name="days", title="period", options=PRESETS, every="As typed or usual")


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if date(1970, 1, 2) <= day <= date(9990, 1, 1) else None


def _midnight(day: date) -> datetime:
    zone = timezone.get_current_timezone()
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)
