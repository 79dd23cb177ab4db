"""Why something that is due stays: asked in one statement for a whole batch, after its locks.

Every destructive path asks here; the triggers of `0002_hold_rules` ask again.
"""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from retention.vocabulary import Blocker


@dataclass(frozen=True, slots=True)
class Blocked:
    """One reason, and the matter, dispute or effect that it is."""

    kind: Blocker
    what: str

    @property
    def words(self) -> str:
        return f"{self.kind.label}: {self.what}"


_ASK = """
WITH asked AS MATERIALIZED (
    SELECT c.id, c.account_id FROM conversations_conversation c WHERE c.id = ANY(%s)
)
SELECT a.id, 'hold', h.matter FROM asked a
JOIN retention_legalhold h ON h.conversation_id = a.id AND h.released_at IS NULL
UNION ALL
SELECT a.id, 'hold', h.matter FROM asked a
JOIN retention_legalhold h ON h.account_id = a.account_id AND h.released_at IS NULL
UNION ALL
SELECT a.id, 'dispute', d.external_ref FROM asked a
JOIN ledger_tooleffect e ON e.conversation_id = a.id
JOIN ledger_dispute d ON d.effect_id = e.id AND d.closed_at IS NULL
UNION ALL
SELECT a.id, 'open_effect', e.id::text FROM asked a
JOIN ledger_tooleffect e ON e.conversation_id = a.id AND e.state = 'pending'
UNION ALL
SELECT a.id, 'open_refund', k.id::text FROM asked a
JOIN ledger_tooleffect e ON e.conversation_id = a.id
JOIN ledger_compensation k ON k.effect_id = e.id AND k.state IN ('requested', 'approved', 'sent')
UNION ALL
SELECT a.id, 'finding', f.id::text FROM asked a
JOIN ledger_tooleffect e ON e.conversation_id = a.id
JOIN ledger_finding f ON f.effect_id = e.id AND f.state = 'open'
"""
# What only keeps a conversation's rows: its bytes may go, the money does not depend on them.
ROWS_ONLY = frozenset({Blocker.OPEN_EFFECT, Blocker.OPEN_REFUND, Blocker.FINDING})


def blockers_of(conversation_ids: Collection[UUID]) -> dict[UUID, list[Blocked]]:
    """Return what keeps each of these conversations; those that nothing keeps are absent."""
    found: dict[UUID, list[Blocked]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ASK, [list(conversation_ids)])
        for conversation_id, kind, what in cursor.fetchall():
            found.setdefault(conversation_id, []).append(Blocked(Blocker(kind), what))
    return found


def account_holds(account_id: UUID) -> list[Blocked]:
    """Return the holds on the account itself, not those on its conversations."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT matter FROM retention_legalhold"
            " WHERE account_id = %s AND released_at IS NULL ORDER BY id",
            [account_id],
        )
        return [Blocked(Blocker.HOLD, matter) for (matter,) in cursor.fetchall()]


_EVIDENCE = """
SELECT r.id FROM conversations_rawbody r WHERE r.id = ANY(%s) AND (
    EXISTS (SELECT FROM retention_legalhold h WHERE h.account_id = r.account_id AND h.released_at IS NULL)
    OR EXISTS (
        SELECT FROM ledger_webhookevent w LEFT JOIN ledger_tooleffect e ON e.id = w.effect_id
        WHERE w.raw_id = r.id AND (w.processed_at IS NULL
            OR retention_hold_on(e.conversation_id, e.account_id) IS NOT NULL))
    OR EXISTS (
        SELECT FROM ledger_effectmove m JOIN ledger_tooleffect e ON e.id = m.effect_id
        WHERE m.raw_id = r.id AND retention_hold_on(e.conversation_id, e.account_id) IS NOT NULL))
"""


def held_evidence(raw_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these raw bodies outside conversations that stay.

    What an account on hold left, what a processor sent or answered about an effect that is held, and
    webhooks that nobody has worked on yet.
    """
    with connection.cursor() as cursor:
        cursor.execute(_EVIDENCE, [list(raw_ids)])
        return {row[0] for row in cursor.fetchall()}
