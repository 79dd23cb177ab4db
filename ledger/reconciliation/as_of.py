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

from django.db import connection
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
from ledger.querysets import PATH_SPANS
from ledger.vocabulary import CompensationState, EffectState, ReferenceKind

SETTLED = (EffectState.APPLIED, EffectState.COMPENSATED)

_STATE = """
(SELECT m.to_state FROM ledger_effectmove m WHERE m.effect_id = e.id AND m.moved_at <= %(cut_off)s
 AND m.written_order < %(written)s ORDER BY m.number DESC LIMIT 1)
"""

# Walks only where something can be off the path: a fork, or a head that was moved up.
_ABANDONED = """
WITH RECURSIVE candidates AS MATERIALIZED (
    SELECT e.id, e.conversation_id, e.call_seq, h.head_seq
    FROM ledger_tooleffect e
    JOIN conversations_conversation c ON c.id = e.conversation_id
    CROSS JOIN LATERAL (
        SELECT m.head_seq FROM conversations_headmove m
        WHERE m.conversation_id = c.id AND m.moved_at <= %(cut_off)s AND m.written_order < %(written)s
        ORDER BY m.number DESC LIMIT 1) h
    WHERE e.realm_id = %(realm)s AND e.processor = %(processor)s AND e.requested_at <= %(cut_off)s
    AND e.call_seq IS NOT NULL AND e.state <> 'pending' AND (c.has_fork OR h.head_seq < e.call_seq)
), asked AS MATERIALIZED (
    SELECT e.* FROM candidates e WHERE @state = 'applied'
), heads AS MATERIALIZED (
    SELECT DISTINCT conversation_id AS id, head_seq FROM asked
), @spans
SELECT a.id FROM asked a
WHERE NOT EXISTS (
    SELECT FROM spans s WHERE s.id = a.conversation_id AND a.call_seq BETWEEN s.first_seq AND s.last_seq)
AND NOT EXISTS (
    SELECT FROM ledger_effectuse u JOIN spans s ON s.id = u.conversation_id
    WHERE u.effect_id = a.id AND u.used_at <= %(cut_off)s AND u.written_order < %(written)s
    AND u.seq BETWEEN s.first_seq AND s.last_seq)
UNION ALL
SELECT e.id FROM ledger_tooleffect e
WHERE e.realm_id = %(realm)s AND e.processor = %(processor)s AND e.requested_at <= %(cut_off)s
AND e.call_seq IS NULL AND e.detached_standing = 'abandoned' AND @state = 'applied'
""".replace("@spans", PATH_SPANS).replace("@state", _STATE)

# Two charges of one tool, for the same arguments or below the same root. Either neither's call stands
# above the other's, so that each customer's branch has paid on its own; or the second began for the same
# amount before anything had said that the first went through, which nobody does who knows of it.
_DUPLICATES = """
WITH RECURSIVE several AS MATERIALIZED (
    SELECT conversation_id, tool_name FROM ledger_tooleffect
    WHERE realm_id = %(realm)s AND processor = %(processor)s AND operation = 'charge'
    AND call_seq IS NOT NULL AND state <> 'pending' AND requested_at <= %(cut_off)s
    GROUP BY conversation_id, tool_name HAVING count(*) > 1
), applied AS MATERIALIZED (
    SELECT e.id, e.conversation_id, e.tool_name, e.call_seq, e.request_digest, e.key_scope, e.key_root_seq,
        e.requested_at, e.amount_minor, e.currency
    FROM ledger_tooleffect e JOIN several USING (conversation_id, tool_name)
    WHERE e.realm_id = %(realm)s AND e.processor = %(processor)s AND e.operation = 'charge'
    AND e.call_seq IS NOT NULL AND e.requested_at <= %(cut_off)s AND @state = 'applied'
), pairs AS MATERIALIZED (
    SELECT b.id AS later, a.id AS earlier, a.conversation_id, a.call_seq AS sought, b.call_seq AS leaf,
        a.requested_at <= b.requested_at AND (a.request_digest = b.request_digest
            OR (a.amount_minor, a.currency) = (b.amount_minor, b.currency)) AND NOT EXISTS (
            SELECT FROM ledger_effectmove m WHERE m.effect_id = a.id AND m.to_state = 'applied'
            AND m.moved_at <= b.requested_at) AS was_unknown
    FROM applied a JOIN applied b ON b.conversation_id = a.conversation_id AND b.tool_name = a.tool_name
    AND a.call_seq < b.call_seq
    AND (a.request_digest = b.request_digest OR (a.key_scope = 'branch_root'
        AND b.key_scope = 'branch_root' AND a.key_root_seq IS NOT DISTINCT FROM b.key_root_seq))
), spans AS (
    SELECT p.later, p.earlier, p.conversation_id, p.sought,
        coalesce(j.seq, 1) AS first_seq, p.leaf AS last_seq, j.parent_seq AS up
    FROM pairs p LEFT JOIN LATERAL (
        SELECT m.seq, m.parent_seq FROM conversations_message m
        WHERE m.conversation_id = p.conversation_id AND m.seq <= p.leaf
        AND coalesce(m.parent_seq, 0) <> m.seq - 1 ORDER BY m.seq DESC LIMIT 1) j ON true
    UNION ALL
    SELECT s.later, s.earlier, s.conversation_id, s.sought, coalesce(j.seq, 1), s.up, j.parent_seq
    FROM spans s LEFT JOIN LATERAL (
        SELECT m.seq, m.parent_seq FROM conversations_message m
        WHERE m.conversation_id = s.conversation_id AND m.seq <= s.up
        AND coalesce(m.parent_seq, 0) <> m.seq - 1 ORDER BY m.seq DESC LIMIT 1) j ON true
    WHERE s.up IS NOT NULL
)
SELECT p.later, array_agg(p.earlier ORDER BY p.earlier) FROM pairs p
WHERE p.was_unknown OR NOT EXISTS (
    SELECT FROM spans s WHERE s.later = p.later AND s.earlier = p.earlier
    AND p.sought BETWEEN s.first_seq AND s.last_seq)
GROUP BY p.later ORDER BY p.later
""".replace("@state", _STATE)

# Begun by the moment, which its first move tells; pending now, or settled only after the moment.
_PENDING = """
SELECT e.id FROM ledger_tooleffect e
WHERE e.realm_id = %(realm)s AND e.processor = %(processor)s AND e.requested_at <= %(before)s
AND (e.state = 'pending' OR EXISTS (
    SELECT FROM ledger_effectmove m WHERE m.effect_id = e.id AND m.number = 2
    AND (m.moved_at > %(cut_off)s OR m.written_order >= %(written)s)))
AND EXISTS (
    SELECT FROM ledger_effectmove m WHERE m.effect_id = e.id AND m.number = 1
    AND m.moved_at <= %(cut_off)s AND m.written_order < %(written)s)
ORDER BY e.id
"""


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

    Whom the processor was asked for is known when the request leaves.
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
        currency=currency,
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


def abandoned_as_of(*, realm_id: int, processor: str, as_of: AsOf) -> list[UUID]:
    """Return applied effects that no call on the path of the head of then had made or used.

    Costs as much as there are effects in conversations that forked or whose head was moved up.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ABANDONED, {"realm": realm_id, "processor": processor, **as_of.parameters})
        return sorted(row[0] for row in cursor.fetchall())


def duplicates_as_of(*, realm_id: int, processor: str, as_of: AsOf) -> list[tuple[UUID, list[UUID]]]:
    """Return each charge that repeats earlier ones, of sibling branches or not known yet, with those."""
    with connection.cursor() as cursor:
        cursor.execute(_DUPLICATES, {"realm": realm_id, "processor": processor, **as_of.parameters})
        return [(later, list(earlier)) for later, earlier in cursor.fetchall()]


def pending_as_of(*, realm_id: int, processor: str, before: datetime, as_of: AsOf) -> list[UUID]:
    """Return effects begun until `before` that had no answer at the cut-off."""
    with connection.cursor() as cursor:
        cursor.execute(
            _PENDING, {"realm": realm_id, "processor": processor, "before": before, **as_of.parameters}
        )
        return [row[0] for row in cursor.fetchall()]


def in_batches(ids: Sequence[UUID], size: int = 2000) -> Iterator[Sequence[UUID]]:
    for begin in range(0, len(ids), size):
        yield ids[begin : begin + size]


CHARGE_REFERENCES = (ReferenceKind.CHARGE, ReferenceKind.INTENT)
