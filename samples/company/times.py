"""Moments of a story, told from the day on which the samples are loaded."""

from datetime import datetime, time, timedelta


def moment(today: datetime, *, days: int, at: str) -> datetime:
    """The clock time `at`, `days` before `today`, in the same zone."""
    day = (today - timedelta(days=days)).date()
    return datetime.combine(day, time.fromisoformat(at), tzinfo=today.tzinfo)
