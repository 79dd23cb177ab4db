"""What is written of each movement: its row of the run, and what was found about it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.copying import copy_rows
from ledger.models import ReconciliationRun, Sighting
from ledger.reconciliation.vocabulary import FindingKind, MatchedBy
from ledger.statements.vocabulary import LineKind

_COLUMNS = (
    "run_id",
    "kind",
    "reference",
    "matched_by",
    "line_id",
    "line_count",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One difference that this run found."""

    kind: FindingKind
    subject: str
    occurred_at: datetime
    effect_id: UUID | None = None
    compensation_id: UUID | None = None
    reference: str = ""
    currency: str = ""
    amount_minor: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Judged:
    """One movement beside the ledger. A judge sets what differs; equal and counted is the default."""

    kind: LineKind
    reference: str
    occurred_at: datetime
    currency: str
    processor_minor: int
    processor_state: str = ""
    line_id: int | None = None
    line_count: int = 0
    matched_by: MatchedBy = MatchedBy.NOTHING
    effect_id: UUID | None = None
    compensation_id: UUID | None = None
    ledger_minor: int = 0
    ledger_state: str = ""
    ledger_currency: str = ""
    is_counted: bool = True
    is_waiting: bool = False
    is_explained: bool = False
    seen: list[Seen] = field(default_factory=list)

    @property
    def difference_minor(self) -> int:
        return self.processor_minor - self.ledger_minor

    def leave_to_another_realm(self) -> None:
        """Keep that there was a movement and nothing of what it was: realms do not see others' money."""
        self.matched_by, self.is_counted = MatchedBy.OTHER_REALM, False
        self.effect_id = self.compensation_id = None
        self.processor_minor = self.ledger_minor = 0
        self.processor_state = self.ledger_state = self.ledger_currency = ""

    def differing(
        self, kind: FindingKind, *, effect_id: UUID | None, reference: str, amount_minor: int, **facts: Any
    ) -> Seen:
        """Return the finding that a statement tells this movement otherwise than the ledger."""
        return Seen(
            kind=kind,
            subject=f"{self.kind}:{self.reference}",
            occurred_at=self.occurred_at,
            effect_id=effect_id,
            compensation_id=self.compensation_id,
            reference=reference,
            currency=self.currency,
            amount_minor=amount_minor,
            facts={"movement": self.kind.value, **facts, "statement": True},
        )


def write_judged(run: ReconciliationRun, judged: Iterable[Judged]) -> dict[str, int]:
    """Write rows and sightings; belongs in the batch's transaction. Returns how many of each."""
    judged = list(judged)
    copy_rows("ledger_runrow", _COLUMNS, (_row(run, one) for one in judged))
    seen = [seen for one in judged for seen in one.seen]
    return {"rows": len(judged), "findings": write_seen(run, seen)}


def write_seen(run: ReconciliationRun, seen: Iterable[Seen]) -> int:
    """Write sightings; one that this run has already, by another way, stays as it is."""
    seen = list(seen)
    if not seen:
        return 0
    before = Sighting.objects.filter(run=run).count()
    Sighting.objects.bulk_create(
        [
            Sighting(
                run=run,
                kind=one.kind,
                subject=one.subject,
                effect_id=one.effect_id,
                compensation_id=one.compensation_id,
                reference=one.reference,
                currency=one.currency,
                amount_minor=one.amount_minor,
                occurred_at=one.occurred_at,
                facts=one.facts,
            )
            for one in seen
        ],
        ignore_conflicts=True,
        batch_size=1000,
    )
    return Sighting.objects.filter(run=run).count() - before


def _row(run: ReconciliationRun, one: Judged) -> tuple[Any, ...]:
    return (
        run.pk,
        one.kind.value,
        one.reference,
        one.matched_by.value,
        one.line_id,
        one.line_count,
        one.effect_id,
        one.compensation_id,
        one.occurred_at,
        one.currency,
        one.ledger_currency if one.ledger_currency != one.currency else "",
        one.ledger_state,
        one.ledger_minor,
        one.processor_state,
        one.processor_minor,
        one.is_counted,
        one.is_waiting,
        one.is_explained or one.is_waiting,
    )
