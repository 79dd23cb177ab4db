"""Runs of imports and exports: which file, whose conversations, and what did not go in or could not leave."""

from dataclasses import dataclass
from typing import Any, Final

from access.reach import Reach
from console.job_pages.kinds import EXPORT, IMPORT
from console.quantities import size_text
from jobs.models import JobRun

_OF_FILES: Final = frozenset({IMPORT, EXPORT})
_LABELS: Final = {
    "file": "File",
    "output": "Into",
    "size": "Size",
    "formats": "Format",
    "realm": "Realm",
    "account": "Account",
    "keeps_originals": "Originals",
    "what": "What",
    "source": "Source",
    "since": "Active since",
    "until": "Active before",
    "conversations": "Conversations",
}
_WHAT: Final = {
    "trees": "Whole trees",
    "next": "The bodies that going on would send",
    "sent": "The bodies that were sent",
}


# As a person reads them. The database orders the members of a document by their length.
_COUNTED: Final = {
    "conversations": ("new", "added to", "unchanged", "not imported"),
    "messages": ("messages", "parts", "calls", "results", "branches"),
    "recorded calls": ("recorded", "known before"),
    "files": ("refused",),
    "lines": ("exported", "not exported"),
}


@dataclass(frozen=True, slots=True)
class Piece:
    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Pieces:
    """The first of a list, and how many it has in all."""

    count: int
    first: list[Piece]

    @property
    def further(self) -> int:
        """How many the run does not keep."""
        return max(self.count - len(self.first), 0)


@dataclass(frozen=True, slots=True)
class FileReport:
    """`left_out` is what did not go in or could not leave, `refused` files that were not taken at all."""

    left_out: Pieces
    refused: Pieces
    remarks: Pieces


def is_of_files(run: JobRun) -> bool:
    return run.kind in _OF_FILES


def within(reach: Reach, run: JobRun) -> bool:
    """Tell whether the one who looks may see whose conversations a run was about."""
    return not is_of_files(run) or reach.sees_all or run.parameters.get("realm_id") in reach.realm_ids


def told_of(run: JobRun) -> dict[str, str]:
    """Return what the run was told and which file it was, in the order and the words of its page."""
    report = run.report if isinstance(run.report, dict) else {}
    told = run.parameters | {name: report.get(name) for name in ("formats", "size") if report.get(name)}
    return {
        label: _worded(name, told[name])
        for name, label in _LABELS.items()
        if told.get(name) not in (None, "")
    }


def name_of(run: JobRun) -> str:
    """Return the name of the file that went in or that was written."""
    return str(run.parameters.get("file") or run.parameters.get("output") or "")


def digest_of(run: JobRun) -> str:
    """Return the SHA-256 of that file, once it is known."""
    return str((run.report or {}).get("sha256") or "") if is_of_files(run) else ""


def in_order(counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Return the counts of an import or an export step by step, what comes first in each first."""
    steps = [*_COUNTED, *(counts.keys() - _COUNTED.keys())]
    return {
        step: {word: counts[step][word] for word in _words_of(step, counts[step])}
        for step in steps
        if step in counts
    }


def _words_of(step: str, counted: dict[str, int]) -> list[str]:
    first = [word for word in _COUNTED.get(step, ()) if word in counted]
    return first + sorted(counted.keys() - set(first))


def left_out(run: JobRun) -> int:
    """Return how many pieces did not go in or could not leave, by the run's counts."""
    if run.kind == IMPORT:
        return int(run.counts.get("conversations", {}).get("not imported", 0))
    return int(run.counts.get("lines", {}).get("not exported", 0)) if run.kind == EXPORT else 0


def file_report(run: JobRun) -> FileReport | None:
    """Return what the run keeps of its report; None where it was erased, or the process was killed."""
    report = run.report
    if not isinstance(report, dict) or not ("not_imported" in report or "not_exported" in report):
        return None
    return FileReport(
        left_out=_pieces(report.get("not_imported") or report.get("not_exported")),
        refused=_pieces(report.get("refused")),
        remarks=_pieces(report.get("remarks")),
    )


def _pieces(kept: dict[str, Any] | None) -> Pieces:
    if not kept:
        return Pieces(0, [])
    return Pieces(kept["count"], [Piece(one["place"], one["reason"]) for one in kept["first"]])


def _worded(name: str, value: Any) -> str:
    if name == "size":
        return size_text(value)
    if name == "what":
        return _WHAT.get(value, str(value))
    if name == "keeps_originals":
        return "kept" if value else "not kept"
    return ", ".join(value) if isinstance(value, list) else str(value)
