"""What an import did, said so that a person can act on it."""

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

MAX_KEPT: Final = 10_000


class ExitStatus(IntEnum):
    COMPLETE = 0
    REFUSED = 1
    PARTIAL = 2


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to know about one place in the file."""

    place: str
    text: str


@dataclass(slots=True)
class ImportReport:
    """Counts of what went in, what failed with its place and reason, and what was odd.

    `failed` is conversations or pieces of a file that did not go in; `remarks`
    is what went in marked or joined. Long lists are cut, and the counts are not.
    """

    is_dry_run: bool = False
    is_stopped: bool = False
    has_damaged_file: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    formats: list[str] = field(default_factory=list)
    failed: list[Remark] = field(default_factory=list)
    refused: list[Remark] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def fail(self, place: str, reason: str) -> None:
        self.counts["failed"] += 1
        if len(self.failed) < MAX_KEPT:
            self.failed.append(Remark(place, reason))

    def refuse(self, place: str, taken_for: str, *, is_damaged: bool = False) -> None:
        """Name a file that was not taken. Of several, one that could not be read makes the import partial."""
        self.counts["refused"] += 1
        self.has_damaged_file = self.has_damaged_file or is_damaged
        if len(self.refused) < MAX_KEPT:
            self.refused.append(Remark(place, taken_for))

    def remark(self, place: str, text: str) -> None:
        self.counts["remarks"] += 1
        if len(self.remarks) < MAX_KEPT:
            self.remarks.append(Remark(place, text))

    def absorb(self, other: "ImportReport") -> None:
        """Add what another report tells of the same import."""
        self.counts.update(other.counts)
        for mine, theirs in ((self.failed, other.failed), (self.remarks, other.remarks)):
            mine += theirs[: MAX_KEPT - len(mine)]

    @property
    def exit_status(self) -> ExitStatus:
        """Refused if no document was taken at all; partial if anything failed or was passed over."""
        if not self.formats:
            return ExitStatus.REFUSED
        is_partial = self.counts["failed"] or self.is_stopped or self.has_damaged_file
        return ExitStatus.PARTIAL if is_partial else ExitStatus.COMPLETE

    def summary(self) -> str:
        """One line of figures."""
        words = [f"{self.counts[name]:,} {name}" for name in _COUNTED if self.counts[name] or name in _ALWAYS]
        start = "dry run, nothing kept: " if self.is_dry_run else ""
        return start + ", ".join(words) + (", stopped before its end" if self.is_stopped else "")


_ALWAYS: Final = frozenset({"conversations new", "messages", "failed"})
_COUNTED: Final = (
    "conversations new",
    "conversations added to",
    "conversations unchanged",
    "messages",
    "parts",
    "calls recorded",
    "calls known",
    "bodies patched",
    "bodies verbatim",
    "bodies none",
    "bodies lost",
    "calls",
    "results",
    "branches",
    "orphans",
    "quarantined",
    "heads repaired",
    "failed",
    "refused",
    "remarks",
)
