"""Times, ages and durations as the console writes them. The clock is always an argument."""

from datetime import datetime, timedelta
from typing import Final, Literal

from django.utils import timezone
from django.utils.dateformat import format as format_date

Show = Literal["both", "date", "clock"]

_FORMATS: Final[dict[tuple[Show, bool, bool], str]] = {
    # what is shown, with the year, with seconds
    ("both", True, False): "j M Y, H:i",
    ("both", True, True): "j M Y, H:i:s",
    ("both", False, False): "j M, H:i",
    ("both", False, True): "j M, H:i:s",
    ("date", True, False): "j M Y",
    ("date", False, False): "j M",
    ("clock", False, False): "H:i",
    ("clock", False, True): "H:i:s",
}


def moment_text(moment: datetime, *, show: Show = "both", year: bool = True, seconds: bool = False) -> str:
    """Return a moment in the current time zone: "24 Nov 2026, 14:05". The page names the zone once."""
    local = timezone.localtime(moment)
    key: tuple[Show, bool, bool] = (show, year and show != "clock", seconds and show != "date")
    return format_date(local, _FORMATS[key])


def age_text(since: datetime, *, now: datetime) -> str:
    """Return how long ago `since` was, in its largest unit: "38 min", "6 d"; of a time to come, "in 2 h"."""
    seconds = (now - since) // timedelta(seconds=1)
    if seconds < 0:
        return f"in {_largest_unit(-seconds)}"
    return _largest_unit(seconds)


def _largest_unit(seconds: int) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:,} {unit}"
    return f"{seconds} s"


def duration_text(milliseconds: int) -> str:
    """Return how long something took: "212 ms", "1.31 s", "2 min 05 s", "3 h 12 min"."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds // 1_000}.{milliseconds % 1_000 // 10:02d} s"
    minutes, seconds = divmod(milliseconds // 1_000, 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02d} min"
