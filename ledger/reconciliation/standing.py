"""Effects that stood in a way that a run looks for, as it was known at a moment: found among all of them.

Each of these asks what a single effect's row does not tell: the head of then, other effects of the
conversation, moves that came later. `ledger.reconciliation.as_of` says how a moment is read.
"""

from datetime import datetime
from uuid import UUID

from django.db import connection

from ledger.querysets import PATH_SPANS
from ledger.reconciliation.as_of import AsOf

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
