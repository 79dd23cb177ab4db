"""What the statements of a run say of one object: one movement, however many lines tell of it.

A balance shows a charge that was captured in steps as several rows; two statements may cover
one day. Rows of one statement about one object are added up, but a row of the balance is one row,
however often it is listed, and so is a payment in a list of payments. Of two statements, the one
that stands later in the run's inputs counts; where it names its rows, those that only an earlier
one has are added.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from ledger.arrays import among, among_filled
from ledger.models import ReconciliationRun, RunRow, StatementLine
from ledger.statements.vocabulary import LineKind, LineStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """One movement of a run. `amount_minor` has the sign that it has for the merchant."""

    kind: LineKind
    reference: str
    status: LineStatus
    amount_minor: int
    currency: str
    occurred_at: datetime
    line_id: int
    line_count: int
    charge_ref: str = ""
    intent_ref: str = ""
    customer_ref: str = ""
    refunded_minor: int | None = None
    effect_mark: UUID | None = None
    key_mark: str = ""
    compensation_mark: UUID | None = None

    @property
    def moved_minor(self) -> int:
        """What has moved: nothing, while it is pending or after it failed."""
        return self.amount_minor if self.status == LineStatus.DONE else 0

    @property
    def key(self) -> tuple[str, str]:
        return self.reference, self.kind


def new_movements(
    run: ReconciliationRun, lines: Sequence[StatementLine], *, positions: dict[UUID, int]
) -> tuple[list[Movement], list[Movement]]:
    """Return the movements that these lines tell of and that the run has not judged yet; and all that
    the run's statements say of the same objects.
    """
    references = {line.reference for line in lines}
    done = set(
        RunRow.objects.filter(among("reference", references), run=run)
        .values_list("reference", "kind")
        .order_by()
    )
    wanted = {(line.reference, line.kind) for line in lines if not line.trouble} - done
    if not wanted:
        return [], []
    every = sorted(
        movements_of(references, positions=positions, read=lines), key=lambda movement: movement.key
    )
    return [movement for movement in every if movement.key in wanted], every


def movements_of(
    references: Iterable[str], *, positions: dict[UUID, int], read: Sequence[StatementLine] = ()
) -> list[Movement]:
    """Return what the run's statements say of these objects; lines that were `read` are not read again."""
    others = StatementLine.objects.filter(
        among_filled("reference", references), statement_id__in=positions, trouble=""
    )
    if read:
        # A batch is a stretch of one statement.
        first, last = read[0], read[-1]
        others = others.exclude(
            statement_id=first.statement_id, number__gte=first.number, number__lte=last.number
        )
    lines = [line for line in read if not line.trouble] + list(others)
    return merged(sorted(lines, key=lambda line: (line.number, line.pk)), positions=positions)


def merged(lines: Iterable[StatementLine], *, positions: dict[UUID, int]) -> list[Movement]:
    groups: dict[tuple[str, str], dict[int, list[StatementLine]]] = {}
    for line in lines:
        of_statements = groups.setdefault((line.reference, line.kind), {})
        of_statements.setdefault(positions[line.statement_id], []).append(line)
    return [_merge(_counting(of_statements)) for of_statements in groups.values()]


def _counting(of_statements: dict[int, list[StatementLine]]) -> list[StatementLine]:
    """Return the lines that count, each once: a balance's row by its id, a payment's sum by itself."""
    latest = max(of_statements)
    listed = of_statements[latest]
    if all(line.movement_ref for line in listed):
        places = sorted(place for place in of_statements if place != latest)
        earlier = [line for place in places for line in of_statements[place] if line.movement_ref]
        listed = earlier + listed
    rows: dict[str | int, StatementLine] = {}
    for line in listed:
        row = line.movement_ref or ("payment" if line.refunded_minor is not None else line.pk)
        rows[row] = line
    return list(rows.values())


def _merge(lines: list[StatementLine]) -> Movement:
    first = lines[0]
    return Movement(
        kind=LineKind(first.kind),
        reference=first.reference,
        status=LineStatus(lines[-1].status),
        amount_minor=sum(line.amount_minor or 0 for line in lines),
        currency=first.currency,
        occurred_at=_moment(first),
        line_id=first.pk,
        line_count=len(lines),
        charge_ref=_said(lines, "charge_ref"),
        intent_ref=_said(lines, "intent_ref"),
        customer_ref=_said(lines, "customer_ref"),
        refunded_minor=first.refunded_minor,
        effect_mark=next((line.effect_mark for line in lines if line.effect_mark), None),
        key_mark=_said(lines, "key_mark"),
        compensation_mark=next((line.compensation_mark for line in lines if line.compensation_mark), None),
    )


def _said(lines: list[StatementLine], name: str) -> str:
    return next((getattr(line, name) for line in lines if getattr(line, name)), "")


def _moment(line: StatementLine) -> datetime:
    if line.occurred_at is None:
        raise ValueError(f"line {line.number} was read without a moment")
    return line.occurred_at
