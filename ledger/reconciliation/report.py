"""The report of a run: canonical JSON, the same bytes for the same inputs.

It holds nothing of the run itself (no id, no time of running, not who asked), and nothing that
changes after the cut-off: whether a finding is new, open or assigned stands on the desk.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, F, Sum, Value
from django.db.models.functions import NullIf

from ledger.models import ReconciliationRun, RunRow, Sighting, StatementLine
from ledger.reconciliation.context import RunContext
from ledger.reconciliation.kinds import stale_pending

VERSION = 1


@dataclass(frozen=True, slots=True)
class TieOut:
    """One currency: both sides, and what of their difference has a known cause."""

    currency: str
    ledger: int
    processor: int
    explained: int
    unexplained: int

    @property
    def difference(self) -> int:
        return self.processor - self.ledger


def tie_outs(run: ReconciliationRun) -> list[TieOut]:
    """Sum up by currency; a row whose sides have two currencies counts on both, unexplained."""
    sums: dict[str, list[int]] = {}
    counted = RunRow.objects.filter(run=run, is_counted=True).order_by()
    by_both = counted.values(
        "currency", "is_explained", other=NullIf(F("ledger_currency"), Value(""))
    ).annotate(ledger=Sum("ledger_minor"), processor=Sum("processor_minor"))
    for row in by_both:
        ledger_currency = row["other"] or row["currency"]
        at = 2 if row["is_explained"] else 3
        for currency, ledger, processor in (
            (ledger_currency, int(row["ledger"]), 0),
            (row["currency"], 0, int(row["processor"])),
        ):
            entry = sums.setdefault(currency, [0, 0, 0, 0])
            entry[0] += ledger
            entry[1] += processor
            entry[at] += processor - ledger
    return [TieOut(currency, *sums[currency]) for currency in sorted(sums)]


def make_report(context: RunContext) -> tuple[str, bytes]:
    """Return the report's text and its SHA-256."""
    run = context.run
    report = {
        "version": VERSION,
        "realm": run.realm.slug,
        "processor": run.processor,
        "since": _moment(run.since),
        "until": _moment(run.until),
        "cut_off": _moment(run.cut_off),
        "waiting_hours": run.policy,
        "inputs": list(_inputs(run)),
        "tie_out": [
            {
                "currency": tie.currency,
                "ledger": tie.ledger,
                "processor": tie.processor,
                "difference": tie.difference,
                "explained": tie.explained,
                "unexplained": tie.unexplained,
            }
            for tie in tie_outs(run)
        ],
        "matched": _matched(run),
        "waiting": {
            "movements": RunRow.objects.filter(run=run, is_waiting=True).count(),
            "without_answer": stale_pending.count_waiting(context),
        },
        "rows": {"number": RunRow.objects.filter(run=run).count(), "sha256": _digest_of_rows(run)},
        "findings": list(_findings(run)),
    }
    text = json.dumps(report, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text, hashlib.sha256(text.encode()).digest()


def _inputs(run: ReconciliationRun) -> Iterator[dict[str, Any]]:
    for entry in run.inputs.select_related("statement").order_by("position"):
        troubled = StatementLine.objects.filter(statement_id=entry.statement_id).exclude(trouble="")
        yield {
            "format": entry.statement.format,
            "sha256": bytes(entry.sha256).hex(),
            "lines": entry.statement.line_count,
            "skipped_lines": list(troubled.order_by("number").values_list("number", flat=True)[:1000]),
        }


def _matched(run: ReconciliationRun) -> dict[str, int]:
    rows = RunRow.objects.filter(run=run).order_by()
    return dict(rows.values_list("matched_by").annotate(Count("pk")).order_by("matched_by"))


def _digest_of_rows(run: ReconciliationRun) -> str:
    """Digest every matched row with its values, in an order of its own."""
    digest = hashlib.sha256()
    fields = (
        "kind",
        "reference",
        "matched_by",
        "effect_id",
        "compensation_id",
        "occurred_at",
        "currency",
        "ledger_currency",
        "ledger_state",
        "ledger_minor",
        "processor_state",
        "processor_minor",
        "is_counted",
        "is_waiting",
        "is_explained",
    )
    rows = RunRow.objects.filter(run=run).order_by("reference", "kind").values_list(*fields)
    for row in rows.iterator(chunk_size=5000):
        digest.update(_line(row))
    return digest.hexdigest()


def _line(row: tuple[Any, ...]) -> bytes:
    cells = [_moment(cell) if isinstance(cell, datetime) else str(cell) for cell in row]
    return (json.dumps(cells, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def _findings(run: ReconciliationRun) -> Iterator[dict[str, Any]]:
    sightings = Sighting.objects.filter(run=run).order_by("kind", "subject")
    for one in sightings.iterator(chunk_size=2000):
        yield {
            "kind": one.kind,
            "subject": one.subject,
            "reference": one.reference,
            "effect": str(one.effect_id) if one.effect_id else None,
            "currency": one.currency,
            "amount": one.amount_minor,
            "occurred_at": _moment(one.occurred_at),
            "facts": one.facts,
        }


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat()
