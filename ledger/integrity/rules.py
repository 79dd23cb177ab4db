"""What must hold of the tree and of the ledger, asked of the rows themselves.

The database refuses to write what breaks most of these; the job proves that nothing got past it:
a restore that was cut off, a superuser's hand, triggers that slept. Each statement returns what
breaks its rule within the given keys: where, as a text. An empty answer is a rule that holds.
"""

CONVERSATION_RULES = {
    "head-is-a-message": """
        SELECT c.id::text || ' head ' || c.head_seq FROM conversations_conversation c
        WHERE c.id = ANY(%(ids)s) AND c.head_seq IS NOT NULL AND NOT EXISTS (
            SELECT FROM conversations_message m WHERE m.conversation_id = c.id AND m.seq = c.head_seq)""",
    "head-is-the-last-logged": """
        SELECT c.id::text || ' move ' || coalesce(c.head_move, 0) FROM conversations_conversation c
        LEFT JOIN conversations_headmove h ON h.conversation_id = c.id AND h.number = c.head_move
        WHERE c.id = ANY(%(ids)s) AND (
            (c.head_move IS NOT NULL AND h.head_seq IS DISTINCT FROM c.head_seq)
            OR EXISTS (SELECT FROM conversations_headmove later WHERE later.conversation_id = c.id
                AND later.number > coalesce(c.head_move, 0)))""",
    "head-log-has-no-gap": """
        SELECT conversation_id::text || ' has ' || count(*) || ' of ' || max(number)
        FROM conversations_headmove WHERE conversation_id = ANY(%(ids)s)
        GROUP BY conversation_id HAVING count(*) <> max(number)""",
    "head-log-runs-forward": """
        SELECT conversation_id::text || ' move ' || number FROM (
            SELECT conversation_id, number, moved_at,
                lag(moved_at) OVER (PARTITION BY conversation_id ORDER BY number) AS before
            FROM conversations_headmove WHERE conversation_id = ANY(%(ids)s)) line
        WHERE moved_at < before""",
    "parent-comes-before": """
        SELECT m.conversation_id::text || ' #' || m.seq FROM conversations_message m
        LEFT JOIN conversations_message p ON p.conversation_id = m.conversation_id AND p.seq = m.parent_seq
        WHERE m.conversation_id = ANY(%(ids)s) AND m.parent_seq IS NOT NULL
        AND (p.seq IS NULL OR p.seq >= m.seq OR p.group_ordinal > m.group_ordinal)""",
    "numbers-stay-below-the-counter": """
        SELECT m.conversation_id::text || ' #' || m.seq FROM conversations_message m
        JOIN conversations_conversation c ON c.id = m.conversation_id
        WHERE c.id = ANY(%(ids)s) AND m.seq >= c.next_seq""",
    "fork-is-known": """
        SELECT DISTINCT m.conversation_id::text FROM conversations_message m
        JOIN conversations_conversation c ON c.id = m.conversation_id
        WHERE c.id = ANY(%(ids)s) AND NOT c.has_fork
        GROUP BY m.conversation_id, m.parent_seq HAVING count(*) > 1""",
    "call-has-its-row": """
        SELECT coalesce(p.conversation_id, t.conversation_id)::text || ' #' || coalesce(p.seq, t.seq)
            || ' ' || coalesce(p.tool_call_id, t.call_id)
        FROM (SELECT conversation_id, seq, ordinal, tool_call_id FROM conversations_messagepart
            WHERE conversation_id = ANY(%(ids)s) AND type = 'tool_use' AND NOT orphan) p
        FULL JOIN (SELECT conversation_id, seq, ordinal, call_id FROM conversations_toolcall
            WHERE conversation_id = ANY(%(ids)s)) t
            ON (t.conversation_id, t.seq, t.ordinal, t.call_id)
                = (p.conversation_id, p.seq, p.ordinal, p.tool_call_id)
        WHERE p.seq IS NULL OR t.seq IS NULL""",
    "result-answers-a-call": """
        SELECT r.conversation_id::text || ' #' || r.seq || ' ' || r.tool_call_id
        FROM conversations_messagepart r
        JOIN conversations_message m ON m.conversation_id = r.conversation_id AND m.seq = r.seq
        WHERE r.conversation_id = ANY(%(ids)s) AND r.type = 'tool_result' AND NOT r.orphan
        AND (m.answers_seq IS DISTINCT FROM r.answers_seq OR NOT EXISTS (
            SELECT FROM conversations_toolcall t WHERE t.conversation_id = r.conversation_id
            AND t.seq = r.answers_seq AND t.call_id = r.tool_call_id))""",
    "archived-has-its-archive": """
        SELECT DISTINCT p.conversation_id::text FROM conversations_messagepart p
        WHERE p.conversation_id = ANY(%(ids)s) AND p.bytes_state = 'archived' AND NOT EXISTS (
            SELECT FROM conversations_archive a WHERE a.conversation_id = p.conversation_id)""",
}

# No rule is broken by these: what was received broken is kept and marked, and this says where.
RECEIVED_BROKEN = {
    "result-without-its-call": """
        SELECT p.conversation_id::text || ' #' || p.seq || coalesce(' ' || m.client_message_id, '')
            || ' ' || coalesce(p.tool_call_id, 'without an id')
        FROM conversations_messagepart p
        JOIN conversations_message m ON m.conversation_id = p.conversation_id AND m.seq = p.seq
        WHERE p.conversation_id = ANY(%(ids)s) AND p.type = 'tool_result' AND p.orphan""",
    "second-call-with-one-id": """
        SELECT p.conversation_id::text || ' #' || p.seq || coalesce(' ' || m.client_message_id, '')
            || ' ' || coalesce(p.tool_call_id, 'without an id')
        FROM conversations_messagepart p
        JOIN conversations_message m ON m.conversation_id = p.conversation_id AND m.seq = p.seq
        WHERE p.conversation_id = ANY(%(ids)s) AND p.type = 'tool_use' AND p.orphan""",
    "call-passed-over": """
        SELECT conversation_id::text || ' #' || seq || ' ' || call_id FROM conversations_toolcall
        WHERE conversation_id = ANY(%(ids)s) AND status = 'unanswered'""",
}

EFFECT_RULES = {
    "effect-has-its-call": """
        SELECT e.id::text || ' call ' || e.call_id FROM ledger_tooleffect e
        WHERE e.id = ANY(%(ids)s) AND e.call_seq IS NOT NULL AND NOT EXISTS (
            SELECT FROM conversations_toolcall t WHERE t.conversation_id = e.conversation_id
            AND t.seq = e.call_seq AND t.call_id = e.call_id)""",
    "applied-has-its-reference": """
        SELECT e.id::text FROM ledger_tooleffect e
        WHERE e.id = ANY(%(ids)s) AND e.state IN ('applied', 'compensated')
        AND (e.external_ref = '' OR e.settled_at IS NULL)""",
    "state-is-its-last-move": """
        SELECT e.id::text || ' move ' || e.move FROM ledger_tooleffect e
        LEFT JOIN LATERAL (SELECT m.number, m.to_state FROM ledger_effectmove m
            WHERE m.effect_id = e.id ORDER BY m.number DESC LIMIT 1) last ON true
        WHERE e.id = ANY(%(ids)s)
        AND (last.number IS DISTINCT FROM e.move OR last.to_state IS DISTINCT FROM e.state)""",
    "moves-have-no-gap": """
        SELECT m.effect_id::text || ' move ' || m.number FROM (
            SELECT effect_id, number, from_state,
                lag(to_state, 1, '') OVER (PARTITION BY effect_id ORDER BY number) AS before,
                row_number() OVER (PARTITION BY effect_id ORDER BY number) AS place
            FROM ledger_effectmove WHERE effect_id = ANY(%(ids)s)) m
        WHERE m.number <> m.place OR m.from_state <> m.before""",
    "evidence-for-every-settled-state": """
        SELECT m.effect_id::text || ' move ' || m.number FROM ledger_effectmove m
        WHERE m.effect_id = ANY(%(ids)s) AND m.to_state IN ('applied', 'compensated')
        AND m.evidence_ref = ''""",
    "sums-of-compensations-agree": """
        SELECT e.id::text || ' says ' || e.amount_compensated_minor || ' and ' || e.amount_reserved_minor
            || ', rows say ' || coalesce(c.settled, 0) || ' and ' || coalesce(c.reserved, 0)
        FROM ledger_tooleffect e LEFT JOIN (
            SELECT effect_id, sum(amount_minor) FILTER (WHERE state = 'settled') AS settled,
                sum(amount_minor) FILTER (WHERE state IN ('requested', 'approved', 'sent')
                    AND origin = 'counterfoil') AS reserved
            FROM ledger_compensation WHERE effect_id = ANY(%(ids)s) GROUP BY effect_id) c
            ON c.effect_id = e.id
        WHERE e.id = ANY(%(ids)s) AND (e.amount_compensated_minor <> coalesce(c.settled, 0)
            OR e.amount_reserved_minor <> coalesce(c.reserved, 0))""",
    "whole-means-compensated": """
        SELECT e.id::text FROM ledger_tooleffect e
        WHERE e.id = ANY(%(ids)s) AND e.operation = 'charge' AND e.amount_settled_minor > 0
        AND e.state IN ('applied', 'compensated')
        AND (e.state = 'compensated') <> (e.amount_compensated_minor >= e.amount_settled_minor)""",
    "compensation-is-in-the-effects-currency": """
        SELECT c.id::text FROM ledger_compensation c JOIN ledger_tooleffect e ON e.id = c.effect_id
        WHERE c.effect_id = ANY(%(ids)s) AND c.currency <> e.currency""",
}
