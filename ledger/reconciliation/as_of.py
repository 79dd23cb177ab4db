"""The ledger and the tree as they were known at a moment: read from what is only ever appended.

A state is what the last move before the moment ended in; a head is where the log had it; a refund
or a dispute is what its last version before the moment says. What was learned later does not
change what a run with an earlier cut-off reads, whenever it happened. Nor does what was written
after the run was asked for, whatever moment it names: rows are numbered as they are written, and
a run reads those below its own number.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from conversations.writing_order import UNNUMBERED
from ledger.arrays import among_ids
from ledger.models import (
    Compensation,
    CompensationVersion,
    Dispute,
    DisputeVersion,
    EffectMove,
    EffectReference,
    ToolEffect,
)
from ledger.vocabulary import CompensationState, EffectState, ReferenceKind

SETTLED = (EffectState.APPLIED, EffectState.COMPENSATED)
CHARGE_REFERENCES = (ReferenceKind.CHARGE, ReferenceKind.INTENT)


@dataclass(frozen=True, slots=True)
class AsOf:
    """Where a run stands: what was known at `cut_off` and had been written with a smaller number."""

    cut_off: datetime
    written_before: int

    def known(self, column: str) -> Q:
        """Return the condition for rows that say in `column` since when they are known."""
        return Q((f"{column}__lte", self.cut_off), written_order__lt=self.written_before)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"cut_off": self.cut_off, "written": self.written_before}


@dataclass(slots=True)
class EffectAsOf:
    """One effect as it was known; `references` are the ids it was known by, with what each is."""

    id: UUID
    realm_id: int
    account_id: UUID | None
    operation: str
    state: EffectState
    external_ref: str
    currency: str
    amount_minor: int | None
    settled_minor: int
    requested_at: datetime
    sent_at: datetime | None
    settled_at: datetime | None
    customer: str
    references: dict[str, str] = field(default_factory=dict)

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED


@dataclass(frozen=True, slots=True)
class RefundAsOf:
    """One compensation as it was known. `failed` with `has_settled` is money that came back."""

    id: UUID
    effect_id: UUID
    reference: str
    amount_minor: int
    currency: str
    state: CompensationState
    has_settled: bool
    settled_at: datetime | None
    failed_at: datetime | None


@dataclass(frozen=True, slots=True)
class DisputeAsOf:
    """One dispute as it was known."""

    reference: str
    effect_id: UUID | None
    charge_ref: str
    status: str
    amount_minor: int
    currency: str
    opened_at: datetime
    is_open: bool


def effects_as_of(ids: Collection[UUID], *, as_of: AsOf) -> dict[UUID, EffectAsOf]:
    """Return these effects as they were known; those that had not begun are left out."""
    states = _states(ids, as_of)
    found = ToolEffect.objects.filter(among_ids("id", states), requested_at__lte=as_of.cut_off).order_by("pk")
    known = {row[0]: _effect(row, states[row[0]], as_of) for row in found.values_list(*_COLUMNS)}
    references = EffectReference.objects.filter(among_ids("effect_id", known), as_of.known("seen_at"))
    references = references.order_by("id")
    for effect_id, kind, reference in references.values_list("effect_id", "kind", "reference"):
        known[effect_id].references.setdefault(reference, kind)
    return known


def _states(ids: Collection[UUID], as_of: AsOf) -> dict[UUID, EffectState]:
    moves = EffectMove.objects.filter(among_ids("effect_id", ids), as_of.known("moved_at"))
    moves = moves.order_by("effect_id", "number")
    return {effect_id: EffectState(state) for effect_id, state in moves.values_list("effect_id", "to_state")}


_COLUMNS = (
    *("id", "realm_id", "account_id", "operation", "external_ref", "currency", "amount_minor"),
    *("amount_settled_minor", "requested_at", "sent_at", "settled_at", "find_by__customer", "sent_order"),
)


def _effect(row: tuple[Any, ...], state: EffectState, as_of: AsOf) -> EffectAsOf:
    """Rows and no models: a run reads every effect of its period once.

    Whom the processor was asked for is known when the request leaves. The currency of an effect that
    was begun without an amount is known once it has settled.
    """
    is_settled = state in SETTLED
    pk, realm_id, account_id, operation, external_ref, currency, amount, settled = row[:8]
    requested_at, sent_at, settled_at, customer, sent_order = row[8:]
    was_sent = (
        sent_at is not None and sent_at <= as_of.cut_off and (sent_order or UNNUMBERED) < as_of.written_before
    )
    return EffectAsOf(
        id=pk,
        realm_id=realm_id,
        account_id=account_id,
        operation=operation,
        state=state,
        external_ref=external_ref if is_settled else "",
        currency=currency if is_settled or amount is not None else "",
        amount_minor=amount,
        settled_minor=(settled or 0) if is_settled else 0,
        requested_at=requested_at,
        sent_at=sent_at if was_sent else None,
        settled_at=settled_at if is_settled else None,
        customer=str(customer or "") if was_sent else "",
    )


def refunds_as_of(found: Q, *, as_of: AsOf) -> list[RefundAsOf]:
    """Return the compensations of a condition as they were known, oldest first; two queries."""
    rows = {row.pk: row for row in Compensation.objects.filter(found).order_by("requested_at", "id")}
    versions = CompensationVersion.objects.filter(
        as_of.known("known_at"), compensation_id__in=list(rows)
    ).order_by("compensation_id", "number")
    # Of one compensation the last stays.
    known = {version.compensation_id: version for version in versions}
    return [_refund(row, known[pk]) for pk, row in rows.items() if pk in known]


def _refund(row: Compensation, known: CompensationVersion) -> RefundAsOf:
    state = CompensationState(known.state)
    return RefundAsOf(
        id=row.pk,
        effect_id=row.effect_id,
        reference=known.external_ref,
        amount_minor=row.amount_minor,
        currency=row.currency,
        state=state,
        has_settled=known.settled_at is not None,
        settled_at=known.settled_at,
        failed_at=known.failed_at if state == CompensationState.FAILED else None,
    )


def disputes_as_of(found: Q, *, as_of: AsOf) -> list[DisputeAsOf]:
    """Return the disputes of a condition as they were known, the first heard of first; two queries."""
    rows = {row.pk: row for row in Dispute.objects.filter(found).order_by("id")}
    versions = DisputeVersion.objects.filter(as_of.known("known_at"), dispute_id__in=list(rows)).order_by(
        "dispute_id", "number"
    )
    known = {version.dispute_id: version for version in versions}
    return [_dispute(row, known[pk]) for pk, row in rows.items() if pk in known]


def _dispute(row: Dispute, known: DisputeVersion) -> DisputeAsOf:
    return DisputeAsOf(
        reference=row.external_ref,
        effect_id=row.effect_id,
        charge_ref=row.charge_ref,
        status=known.status,
        amount_minor=known.amount_minor,
        currency=known.currency,
        opened_at=row.opened_at,
        is_open=known.closed_at is None,
    )


def given_back(effects: Collection[UUID], *, as_of: AsOf) -> dict[UUID, int]:
    """Return what refunds had given back of these effects; nothing for those without any."""
    back: dict[UUID, int] = {}
    for refund in refunds_as_of(Q(effect_id__in=list(effects)), as_of=as_of):
        if refund.state == CompensationState.SETTLED:
            back[refund.effect_id] = back.get(refund.effect_id, 0) + refund.amount_minor
    return back


def in_batches(ids: Sequence[UUID], size: int = 2000) -> Iterator[Sequence[UUID]]:
    for begin in range(0, len(ids), size):
        yield ids[begin : begin + size]
