"""The report of a run as it is printed: the frozen sums, and every finding with the values of then."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from console.reconciling.run_pages import ShownRun, show
from ledger.models import ReconciliationRun, Sighting
from ledger.reconciliation.vocabulary import FindingKind

# What is more than this belongs into a spreadsheet; the CSV has every row.
MOST: Final = 500


@dataclass(frozen=True, slots=True)
class PrintedFinding:
    sighting: Sighting
    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class Report:
    """What the paper says. `inputs` are (name, lines, lines not read, SHA-256)."""

    shown: ShownRun
    findings: Sequence[PrintedFinding]
    number: int
    inputs: Sequence[tuple[str, int, int, str]]
    rows_digest: str

    @property
    def is_cut(self) -> bool:
        return self.number > len(self.findings)


def read_report(run: ReconciliationRun) -> Report:
    """Read a finished run as it is printed, findings by kind and the largest amounts first."""
    shown = show(run)
    found = run.sightings.select_related("finding").order_by("kind", "currency", "-amount_minor", "subject")
    report = json.loads(run.report)
    return Report(
        shown=shown,
        findings=[
            PrintedFinding(
                sighting,
                FindingKind(sighting.kind).label,
                sighting.finding.get_state_display() if sighting.finding else "",
            )
            for sighting in found[:MOST]
        ],
        number=shown.found_count,
        inputs=[
            (
                one.entry.statement.name,
                one.entry.statement.line_count,
                one.entry.statement.skipped_count,
                f"sha256:{bytes(one.entry.sha256).hex()}",
            )
            for one in shown.inputs
        ],
        rows_digest=f"sha256:{report['rows']['sha256']}",
    )
