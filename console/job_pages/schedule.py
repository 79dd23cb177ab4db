"""The schedule beside the runs it started: last and next run, how long it took, how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from console.job_pages.kinds import Kind, kind_of
from console.moments import age_text
from jobs.models import JobRun
from jobs.services.starting import beat_of


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One entry of the schedule. `is_recorded` is false for the sweeper, which keeps no runs of its own."""

    kind: Kind
    every: timedelta
    next_at: datetime
    is_recorded: bool
    last: JobRun | None = None

    @property
    def every_words(self) -> str:
        """ "2 min", "1 d"."""
        return age_text(self.next_at - self.every, now=self.next_at)

    @property
    def took(self) -> timedelta | None:
        if self.last is None or self.last.started_at is None or self.last.finished_at is None:
            return None
        return self.last.finished_at - self.last.started_at


def read_schedule(*, now: datetime, beat: Mapping[str, Mapping[str, Any]] | None = None) -> list[Scheduled]:
    """Return every entry of the schedule with the last run of its kind; one query."""
    entries = settings.CELERY_BEAT_SCHEDULE if beat is None else beat
    kinds = [_kind(entry) for entry in entries.values()]
    last = _last_runs([kind for kind, is_recorded in kinds if is_recorded])
    return [
        Scheduled(
            kind=kind_of(kind),
            every=entry["schedule"].run_every,
            next_at=beat_of(now=now, every=entry["schedule"].run_every) + entry["schedule"].run_every,
            is_recorded=is_recorded,
            last=last.get(kind),
        )
        for (kind, is_recorded), entry in zip(kinds, entries.values(), strict=True)
    ]


def _kind(entry: Mapping[str, Any]) -> tuple[str, bool]:
    """The kind an entry starts, and whether that makes a row for each run."""
    if entry["task"] == "jobs.start":
        return str(entry["args"][0]), True
    return str(entry["task"]), False


def _last_runs(kinds: list[str]) -> dict[str, JobRun]:
    """The newest run of each kind: one probe of the index for each, in one statement."""
    if not kinds:
        return {}
    newest = [JobRun.objects.filter(kind=kind).order_by("-queued_at")[:1] for kind in dict.fromkeys(kinds)]
    found = newest[0].union(*newest[1:], all=True) if len(newest) > 1 else newest[0]
    return {run.kind: run for run in found}
