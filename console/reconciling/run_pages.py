"""The pages of reconciliation runs: their list, and one run with tie-out, findings, matches and inputs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q, QuerySet, Sum

from access.reach import Reach
from console.reconciling.finding_list import EXPLAINED
from conversations.currency import major_text
from ledger.models import ReconciliationRun, RunInput, RunRow, Sighting, StatementLine
from ledger.reconciliation.report import TieOut
from ledger.reconciliation.vocabulary import FindingKind, FindingState, MatchedBy

CSV_HEADER: Final = (
    *("kind", "processor's id", "matched by", "effect", "happened", "currency", "ledger", "ledger's state"),
    *("ledger's currency", "processor", "processor's state", "counted", "waiting", "explained"),
)
_SHOWN_LINES: Final = 10


@dataclass(frozen=True, slots=True)
class ByKind:
    """What a run found of one kind: how many are open still, how many were new, amounts by currency."""

    kind: str
    label: str
    explained: str
    number: int
    still_open: int
    new: int
    amounts: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Input:
    """A statement of a run, with the first lines that could not be read."""

    entry: RunInput
    troubled: Sequence[StatementLine]


@dataclass(frozen=True, slots=True)
class ShownRun:
    run: ReconciliationRun
    ties: Sequence[TieOut]
    currencies: Sequence[str]
    kinds: Sequence[ByKind]
    matched: Sequence[tuple[str, str, int]]
    row_count: int
    waiting: int
    inputs: Sequence[Input]
    repetitions: Sequence[ReconciliationRun]

    @property
    def untied(self) -> list[TieOut]:
        return [tie for tie in self.ties if tie.unexplained]

    @property
    def found_count(self) -> int:
        return sum(kind.number for kind in self.kinds)

    @property
    def of_other_realms(self) -> int:
        """How many movements of the statements are other realms' own: counted, and not shown."""
        return sum(number for code, _, number in self.matched if code == MatchedBy.OTHER_REALM)

    @property
    def listed_count(self) -> int:
        return self.row_count - self.of_other_realms

    @property
    def same_again(self) -> bool:
        return all(again.report_sha256 == self.run.report_sha256 for again in self.repetitions)


@dataclass(frozen=True, slots=True)
class Row:
    """One run of the list, with how much it found."""

    run: ReconciliationRun
    found: int
    new: int


def listed(reach: Reach) -> QuerySet[ReconciliationRun]:
    return ReconciliationRun.objects.filter(reach.within("realm_id")).select_related("realm", "job")


def rows_of(runs: Sequence[ReconciliationRun]) -> list[Row]:
    """Return the rows of a page; what they found is counted in one query, of this page's runs only."""
    counted = (
        Sighting.objects.filter(run__in=[run.pk for run in runs])
        .order_by()
        .values("run_id")
        .annotate(found=Count("pk"), new=Count("pk", filter=Q(is_new=True)))
    )
    numbers = {row["run_id"]: (row["found"], row["new"]) for row in counted}
    return [Row(run, *numbers.get(run.pk, (0, 0))) for run in runs]


def show(run: ReconciliationRun) -> ShownRun:
    """Read what the page of a finished run shows; the sums are those of its frozen report."""
    report = json.loads(run.report)
    ties = [
        TieOut(one["currency"], one["ledger"], one["processor"], one["explained"], one["unexplained"])
        for one in report["tie_out"]
    ]
    kinds, currencies = _kinds(run)
    labels = dict(MatchedBy.choices)
    return ShownRun(
        run=run,
        ties=ties,
        currencies=currencies,
        kinds=kinds,
        matched=[(code, labels[code], report["matched"].get(code, 0)) for code in MatchedBy.values],
        row_count=report["rows"]["number"],
        waiting=report["waiting"]["movements"] + report["waiting"]["without_answer"],
        inputs=_inputs(run),
        repetitions=list(run.repetitions.exclude(finished_at=None).order_by("-requested_at")[:5]),
    )


def _kinds(run: ReconciliationRun) -> tuple[list[ByKind], list[str]]:
    """Sum up by kind and currency, in one query."""
    found = (
        run.sightings.order_by()
        .values("kind", "currency")
        .annotate(
            number=Count("pk"),
            still_open=Count("pk", filter=Q(finding__state=FindingState.OPEN)),
            new=Count("pk", filter=Q(is_new=True)),
            amount=Sum("amount_minor"),
        )
    )
    rows = list(found)
    currencies = sorted({row["currency"] for row in rows if row["currency"]})
    kinds = []
    for kind in FindingKind:
        of_kind = [row for row in rows if row["kind"] == kind]
        if not of_kind:
            continue
        amounts = {row["currency"]: int(row["amount"] or 0) for row in of_kind}
        kinds.append(
            ByKind(
                kind=kind.value,
                label=kind.label,
                explained=EXPLAINED[kind],
                number=sum(row["number"] for row in of_kind),
                still_open=sum(row["still_open"] for row in of_kind),
                new=sum(row["new"] for row in of_kind),
                amounts=[amounts.get(currency) for currency in currencies],
            )
        )
    return kinds, currencies


def _inputs(run: ReconciliationRun) -> list[Input]:
    entries = list(run.inputs.select_related("statement").order_by("position"))
    troubled: dict[Any, list[StatementLine]] = {}
    lines = StatementLine.objects.filter(statement_id__in=[entry.statement_id for entry in entries]).exclude(
        trouble=""
    )
    for line in lines.order_by("statement_id", "number")[: _SHOWN_LINES * max(len(entries), 1)]:
        troubled.setdefault(line.statement_id, []).append(line)
    return [Input(entry, troubled.get(entry.statement_id, [])[:_SHOWN_LINES]) for entry in entries]


def own_rows(run: ReconciliationRun) -> QuerySet[RunRow]:
    """Return the rows of a run that its realm may see: what of a shared account is others' is not shown."""
    return RunRow.objects.filter(run=run).exclude(matched_by=MatchedBy.OTHER_REALM)


def csv_rows(run: ReconciliationRun) -> Iterator[tuple[Any, ...]]:
    """Yield every matched row with the values that the run saw."""
    for row in own_rows(run).order_by("reference", "kind").iterator(chunk_size=2000):
        ledger_currency = row.ledger_currency or row.currency
        yield (
            *(row.kind, row.reference, row.matched_by, row.effect_id, row.occurred_at, row.currency.upper()),
            major_text(row.ledger_minor, ledger_currency),
            *(row.ledger_state, ledger_currency.upper(), major_text(row.processor_minor, row.currency)),
            *(row.processor_state, row.is_counted, row.is_waiting, row.is_explained),
        )
