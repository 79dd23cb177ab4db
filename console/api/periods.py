"""The period of sums: whole days of the console's time zone, the last thirty unless it is said."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from console.periods import LONGEST, Period

_USUAL: Final = timedelta(days=30)
_EARLIEST, _LATEST = date(1970, 1, 2), date(9990, 1, 1)


class PeriodQuery(serializers.Serializer):
    since = serializers.DateField(required=False, help_text="The first day; 30 days before `until`.")
    until = serializers.DateField(required=False, help_text="The first day past the end; tomorrow.")


class PeriodAnswer(serializers.Serializer):
    """Which days were summed up, and by which clock they are days."""

    since = serializers.DateField()
    until = serializers.DateField(help_text="Not included.")
    zone = serializers.CharField(help_text="The time zone whose days they are.")


def read_period(query: Mapping[str, Any], *, now: datetime) -> Period:
    """Raises ValidationError where the days make no period, or one so long that sums would take minutes."""
    given = PeriodQuery(data=query)
    given.is_valid(raise_exception=True)
    until = given.validated_data.get("until") or timezone.localdate(now) + timedelta(days=1)
    if not _EARLIEST + _USUAL <= until <= _LATEST:
        raise ValidationError({"until": ["There are no sums of that time."]})
    since = given.validated_data.get("since") or until - _USUAL
    if since < _EARLIEST or not timedelta(0) < until - since <= LONGEST:
        raise ValidationError({"until": [f"After `since`, and at most {LONGEST.days} days later."]})
    return Period(_midnight(since), _midnight(until))


def told_period(period: Period) -> dict[str, Any]:
    return {
        "since": period.first_day,
        "until": period.last_day + timedelta(days=1),
        "zone": timezone.get_current_timezone_name(),
    }


def _midnight(day: date) -> datetime:
    zone = timezone.get_current_timezone()
    return datetime.combine(day, time.min, tzinfo=zone).astimezone(UTC)
