"""Taking old lines out of the access log, by the one function of the database that may."""

from datetime import datetime
from typing import NamedTuple

from django.db import connection

from access.models.log import AccessEntry, LogFloor, StatedReason


class PurgedLog(NamedTuple):
    entries: int
    reasons: int


def purge_log(*, before: datetime, limit: int = 10_000) -> PurgedLog:
    """Delete up to `limit` lines from before `before`, and reasons that ended before it; return how many.

    The database refuses a moment within the floor, whoever asks. Safe to repeat until nothing is deleted.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT entries, reasons FROM access_purge_log(%s, %s)", [before, limit])
        return PurgedLog._make(cursor.fetchone())


def count_log(*, before: datetime) -> PurgedLog:
    """Count the lines and reasons that `purge_log` would delete, however many."""
    return PurgedLog(
        AccessEntry.objects.filter(at__lt=before).count(),
        StatedReason.objects.filter(valid_until__lt=before).count(),
    )


def log_floor_days() -> int:
    """Return how many days of the access log no policy may take."""
    return LogFloor.objects.get().days
