"""How far an import is and what a run keeps of its report: counts by step, and the first of each list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from conversations.drafts import ImportedConversation
from conversations.imports.detect import Found
from conversations.imports.trouble import MAX_PLACE
from conversations.services.importing.importing import size_of
from conversations.services.importing.report import ImportReport, Remark
from conversations.wire.literals import readable_copy
from jobs.services.attending import Standing

# Of each list so many are kept, each so long: enough to act on, and little of what people said.
MAX_NAMED: Final = 200
MAX_REASON: Final = 300

# Told on the importing thread how many bytes and messages were read.
type Advance = Callable[[int, int], None]


@dataclass(slots=True)
class Follower:
    """Adds up what was read. Written by the importing thread, read by the one that keeps the lease."""

    advance: Advance | None
    total: int | None
    may_go_on: Callable[[], bool] = lambda: True
    done: int = 0
    is_over: bool = False
    _report: ImportReport | None = None

    def take(self, found: Found, report: ImportReport) -> bool:
        self._report = report
        size = size_of(found)
        self.done += size
        if self.advance is not None:
            self.advance(size, len(found.nodes) if isinstance(found, ImportedConversation) else 0)
        return self.may_go_on()

    def end_with(self, report: ImportReport) -> None:
        self._report, self.is_over = report, True
        # What stands between the records of a file counts as read with the last of them.
        if self.total is not None and report.formats and not report.is_stopped:
            self.done = self.total

    def standing(self, *, sha256: str | None) -> Standing:
        """How far it is. Lists are kept at the end only: they are long, and beats are many."""
        done = self.done if self.total is None else min(self.done, self.total)
        head: dict[str, Any] = {"sha256": sha256}
        if self._report is None:
            return Standing(done, self.total, report=head)
        head["formats"] = list(self._report.formats)
        return Standing(done, self.total, counts=counts_by_step(self._report), report=head)

    def last_standing(self, *, sha256: str | None) -> Standing:
        standing = self.standing(sha256=sha256)
        return replace(standing, report={"sha256": sha256, **kept(self._report or ImportReport())})


def counts_by_step(report: ImportReport) -> dict[str, dict[str, int]]:
    """Return the report's counts as a run has them: by what they count."""
    steps: dict[str, dict[str, int]] = {}
    # Copied in one step of the interpreter's: the importing thread may be counting.
    for name, number in dict(report.counts).items():
        step, word = _STEPS.get(name, ("messages", name))
        if number:
            steps.setdefault(step, {})[word] = number
    return steps


def kept(report: ImportReport) -> dict[str, Any]:
    """Return what a run keeps of a report: each list's whole count, and its first with place and reason."""
    return {
        "formats": list(report.formats),
        "is_dry_run": report.is_dry_run,
        "not_imported": _cut(report.failed, report.counts["failed"]),
        "refused": _cut(report.refused, report.counts["refused"]),
        "remarks": _cut(report.remarks, report.counts["remarks"]),
    }


def _cut(remarks: list[Remark], count: int) -> dict[str, Any]:
    first = [
        {"place": readable_copy(one.place)[:MAX_PLACE], "reason": readable_copy(one.text)[:MAX_REASON]}
        for one in remarks[:MAX_NAMED]
    ]
    return {"count": count, "first": first}


_STEPS: Final[Mapping[str, tuple[str, str]]] = {
    "conversations new": ("conversations", "new"),
    "conversations added to": ("conversations", "added to"),
    "conversations unchanged": ("conversations", "unchanged"),
    "failed": ("conversations", "not imported"),
    "calls recorded": ("recorded calls", "recorded"),
    "calls known": ("recorded calls", "known before"),
    "bodies patched": ("recorded calls", "bodies patched"),
    "bodies verbatim": ("recorded calls", "bodies verbatim"),
    "bodies none": ("recorded calls", "bodies none"),
    "bodies lost": ("recorded calls", "bodies lost"),
    "refused": ("files", "refused"),
    "remarks": ("files", "remarks"),
}
