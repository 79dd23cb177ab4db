"""Runs as their pages show them: progress, counts by step, error with its place, who asked."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import django_filters
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, filter_group
from console.job_pages.files import (
    FileReport,
    digest_of,
    file_report,
    in_order,
    is_of_files,
    left_out,
    name_of,
    told_of,
    within,
)
from console.job_pages.kinds import KINDS, Kind, kind_of
from console.quantities import size_text
from jobs.models import JobRun, RunState

_STARTERS: Final = {"job": "The schedule", "application": "An application", "importer": "An import"}


class RunFilter(django_filters.FilterSet):
    kind = django_filters.CharFilter(max_length=128)
    state = django_filters.ChoiceFilter(choices=RunState.choices)

    class Meta:
        model = JobRun
        fields: list[str] = []


@dataclass(frozen=True, slots=True)
class Count:
    step: str
    name: str
    number: int


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One member of a report; what has members of its own is laid out as JSON."""

    name: str
    text: str
    is_laid_out: bool


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run. `took` runs on until the run ends.

    `is_withheld` where it is about customers of a realm that the one who looks does not reach: then
    state, times and counts are all that is shown.
    """

    run: JobRun
    kind: Kind
    asked_by: str
    took: timedelta | None
    is_withheld: bool = False

    @property
    def about(self) -> str:
        """What it works on, for a list."""
        if not is_of_files(self.run):
            return self.run.scope
        return "" if self.is_withheld else name_of(self.run)

    @property
    def digest(self) -> str:
        return "" if self.is_withheld else digest_of(self.run)

    @property
    def done(self) -> str:
        return self._amount(self.run.done)

    @property
    def total(self) -> str:
        return self._amount(self.run.total) if self.run.total else ""

    @property
    def left_out(self) -> int:
        """How many pieces of a file that was taken did not go in, or could not leave."""
        return left_out(self.run)

    @property
    def advice(self) -> str:
        """What to do where a run in the foreground ended early; workers' runs are gone on with."""
        if self.run.state not in (RunState.STOPPED, RunState.FAILED):
            return ""
        if self.run.is_dry_run:
            return "It was a dry run: nothing was kept."
        return "Nothing of it was written." if self.run.error_code == "file-refused" else self.kind.again

    @property
    def counts(self) -> list[Count]:
        counts = in_order(self.run.counts) if is_of_files(self.run) else self.run.counts
        return [
            Count(str(step), str(name), number)
            for step, counted in counts.items()
            for name, number in counted.items()
        ]

    @property
    def report(self) -> list[ReportLine]:
        if is_of_files(self.run):
            return []
        report = self.run.report if isinstance(self.run.report, dict) else {}
        return [_report_line(str(name), value) for name, value in report.items()]

    @property
    def file_report(self) -> FileReport | None:
        """What became of a file, where the run is about one and has ended."""
        if self.is_withheld or self.run.is_active or not is_of_files(self.run):
            return None
        return file_report(self.run)

    @property
    def parameters(self) -> list[tuple[str, Any]]:
        if self.is_withheld:
            return []
        return list(told_of(self.run).items() if is_of_files(self.run) else self.run.parameters.items())

    @property
    def is_measured(self) -> bool:
        """Whether a bar can be drawn: the whole is known, and not all of it is nothing."""
        return bool(self.run.total)

    @property
    def may_resume(self) -> bool:
        return not self.run.is_foreground and self.run.state in (RunState.STOPPED, RunState.FAILED)

    def _amount(self, number: int) -> str:
        return size_text(number) if self.run.unit == "bytes" else f"{number:,}"


def _report_line(name: str, value: Any) -> ReportLine:
    words = name.replace("_", " ")
    if isinstance(value, dict | list) and value:
        return ReportLine(words, json.dumps(value, ensure_ascii=False, indent=2), is_laid_out=True)
    if isinstance(value, bool):
        return ReportLine(words, "yes" if value else "no", is_laid_out=False)
    empty = value is None or isinstance(value, dict | list)
    return ReportLine(words, "–" if empty else str(value), is_laid_out=False)


def listed() -> QuerySet[JobRun]:
    """Return the runs of a list; cursors and reports stay where they are."""
    return JobRun.objects.defer("cursor", "report")


def shown(runs: Sequence[JobRun], *, reach: Reach, now: datetime) -> list[ShownRun]:
    """Return the runs with who asked for each, by name; one query for all of them."""
    names = _names(runs)
    return [
        ShownRun(
            run=run,
            kind=kind_of(run.kind),
            asked_by=_asked_by(run, names),
            took=_took(run, now=now),
            is_withheld=not within(reach, run),
        )
        for run in runs
    ]


def filter_groups(query: QueryDict) -> list[FilterGroup]:
    kinds = [(kind.name, kind.title) for kind in KINDS if kind.name != "jobs.sweep"]
    chosen = query.get("kind", "")
    if chosen and chosen not in dict(kinds):
        kinds.append((chosen, chosen))
    return [
        filter_group(query=query, name="state", title="state", options=RunState.choices),
        filter_group(query=query, name="kind", title="job", options=kinds),
    ]


def _names(runs: Iterable[JobRun]) -> dict[str, str]:
    ids = {run.requested_by_id for run in runs if run.requested_by_kind == "staff"}
    users = User.objects.filter(pk__in=[int(pk) for pk in ids if pk.isascii() and pk.isdigit()])
    return {str(user.pk): user.get_full_name() or user.get_username() for user in users}


def _asked_by(run: JobRun, names: dict[str, str]) -> str:
    if run.requested_by_kind == "staff":
        return names.get(run.requested_by_id, "Somebody who is gone")
    if run.is_foreground and run.requested_by_id:
        return f"{run.requested_by_id}, at a terminal"
    return _STARTERS.get(run.requested_by_kind, run.requested_by_kind)


def _took(run: JobRun, *, now: datetime) -> timedelta | None:
    if run.started_at is None:
        return None
    return max((run.finished_at or now) - run.started_at, timedelta(0))


def find_run(run_id: UUID) -> JobRun | None:
    return JobRun.objects.filter(pk=run_id).first()
