"""Times, ages and durations. A machine reads the full moment in `datetime`; people read what fits."""

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.moments import Show, age_text, duration_text, moment_text
from console.quantities import NOTHING

_ABSENT: Final = '<span class="muted">{}</span>'
_TIME: Final = '<time datetime="{}">{}</time>'


def moment(
    value: datetime | None, show: Show = "both", year: bool = True, seconds: bool = False
) -> SafeString:
    """{% moment value [show="date"|"clock"] [year=False] [seconds=True] %}

    The year is left out inside a list of one year; seconds stand where order matters.
    """
    if value is None:
        return format_html(_ABSENT, NOTHING)
    return format_html(_TIME, _machine(value), moment_text(value, show=show, year=year, seconds=seconds))


def age(since: datetime | None, now: datetime) -> SafeString:
    """{% age since now %}: "38 min", "6 d"; of a time to come, "in 2 h"."""
    if since is None:
        return format_html(_ABSENT, NOTHING)
    return format_html(_TIME, _machine(since), age_text(since, now=now))


def duration(value: int | timedelta | None) -> str:
    """{{ milliseconds|duration }}: "212 ms", "1.31 s", "2 min 05 s"; takes a timedelta as well."""
    if value is None:
        return NOTHING
    if isinstance(value, timedelta):
        value = value // timedelta(milliseconds=1)
    return duration_text(value)


def _machine(moment: datetime) -> str:
    return timezone.localtime(moment).isoformat(timespec="seconds")
