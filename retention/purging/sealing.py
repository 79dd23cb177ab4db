"""Totals of what is about to go, written in the transaction that deletes it: never lost, never twice.

The caller holds the locks of the conversations, so that no attempt comes in between.
"""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import connection

# Eight buckets to a doubling of the milliseconds: two lines are merged by adding up, and a
# quantile read from them is off by a twelfth at most.
BUCKETS_PER_DOUBLING = 8


def bucket_sql(column: str) -> str:
    return f"floor({BUCKETS_PER_DOUBLING} * ln({column} + 1) / ln(2))::int"


_GENERATIONS = f"""
WITH attempts AS MATERIALIZED (
    SELECT (g.created_at AT TIME ZONE 'UTC')::date AS day, a.realm_id, c.account_id, g.provider,
        coalesce(nullif(g.served_model, ''), g.requested_model) AS model, g.prompt_version, g.status,
        g.uncached_input_tokens, g.cache_read_tokens, g.cache_write_5m_tokens, g.cache_write_1h_tokens,
        g.output_tokens, g.reasoning_tokens, g.cost_usd, g.cost_confidence, g.total_ms, g.first_token_ms
    FROM conversations_generation g
    JOIN conversations_conversation c ON c.id = g.conversation_id
    JOIN conversations_account a ON a.id = c.account_id
    WHERE g.conversation_id = ANY(%s) AND (%s OR g.status NOT IN ('queued', 'streaming'))
), latency AS (
    SELECT day, realm_id, account_id, provider, model, prompt_version, jsonb_object_agg(bucket, n) AS counts
    FROM (SELECT day, realm_id, account_id, provider, model, prompt_version,
        {bucket_sql("total_ms")} AS bucket, count(*) AS n
        FROM attempts WHERE total_ms >= 0 GROUP BY 1, 2, 3, 4, 5, 6, 7) b
    GROUP BY 1, 2, 3, 4, 5, 6
), first AS (
    SELECT day, realm_id, account_id, provider, model, prompt_version, jsonb_object_agg(bucket, n) AS counts
    FROM (SELECT day, realm_id, account_id, provider, model, prompt_version,
        {bucket_sql("first_token_ms")} AS bucket, count(*) AS n
        FROM attempts WHERE first_token_ms >= 0 GROUP BY 1, 2, 3, 4, 5, 6, 7) b
    GROUP BY 1, 2, 3, 4, 5, 6
), sums AS (
    SELECT day, realm_id, account_id, provider, model, prompt_version, count(*) AS number,
        count(*) FILTER (WHERE status IN ('failed', 'interrupted', 'refused', 'cancelled')) AS failed,
        coalesce(sum(uncached_input_tokens), 0) AS uncached, coalesce(sum(cache_read_tokens), 0) AS cached,
        coalesce(sum(cache_write_5m_tokens), 0) AS write_5m,
        coalesce(sum(cache_write_1h_tokens), 0) AS write_1h,
        coalesce(sum(output_tokens), 0) AS output, coalesce(sum(reasoning_tokens), 0) AS reasoning,
        coalesce(sum(cost_usd), 0) AS cost,
        coalesce(sum(cost_usd) FILTER (
            WHERE status IN ('failed', 'interrupted', 'refused', 'cancelled')), 0) AS failed_cost,
        count(*) FILTER (WHERE cost_confidence = 'estimated') AS estimated,
        count(*) FILTER (WHERE cost_confidence = 'unknown') AS unknown
    FROM attempts GROUP BY 1, 2, 3, 4, 5, 6
)
INSERT INTO retention_generationrollup (day, realm_id, account_id, provider, model, prompt_version, number,
    failed, uncached_input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens,
    output_tokens, reasoning_tokens, cost_usd, failed_cost_usd, cost_estimated, cost_unknown, latency,
    first_token, sealed_at, run_id)
SELECT day, realm_id, account_id, provider, model, prompt_version, number, failed, uncached, cached, write_5m,
    write_1h, output, reasoning, cost, failed_cost, estimated, unknown, coalesce(latency.counts, '{{}}'),
    coalesce(first.counts, '{{}}'), %s, %s
FROM sums
LEFT JOIN latency USING (day, realm_id, account_id, provider, model, prompt_version)
LEFT JOIN first USING (day, realm_id, account_id, provider, model, prompt_version)
"""

_TOOLS = f"""
WITH calls AS MATERIALIZED (
    SELECT (t.requested_at AT TIME ZONE 'UTC')::date AS day, a.realm_id, c.account_id, t.name AS tool,
        t.status, t.duration_ms
    FROM conversations_toolcall t
    JOIN conversations_conversation c ON c.id = t.conversation_id
    JOIN conversations_account a ON a.id = c.account_id
    WHERE t.conversation_id = ANY(%s)
    AND (%s::int[] IS NULL OR t.seq = ANY(%s))
), latency AS (
    SELECT day, realm_id, account_id, tool, jsonb_object_agg(bucket, n) AS counts
    FROM (SELECT day, realm_id, account_id, tool, {bucket_sql("duration_ms")} AS bucket, count(*) AS n
        FROM calls WHERE duration_ms >= 0 GROUP BY 1, 2, 3, 4, 5) b
    GROUP BY 1, 2, 3, 4
), sums AS (
    SELECT day, realm_id, account_id, tool, count(*) AS number,
        count(*) FILTER (WHERE status = 'failed') AS failed,
        count(*) FILTER (WHERE status IN ('requested', 'unanswered')) AS unanswered
    FROM calls GROUP BY 1, 2, 3, 4
)
INSERT INTO retention_toolrollup (day, realm_id, account_id, tool, number, failed, unanswered, latency,
    sealed_at, run_id)
SELECT day, realm_id, account_id, tool, number, failed, unanswered, coalesce(latency.counts, '{{}}'), %s, %s
FROM sums LEFT JOIN latency USING (day, realm_id, account_id, tool)
"""


def seal_generations(
    *, conversation_ids: Collection[UUID], now: datetime, run_id: UUID | None, with_open: bool = False
) -> int:
    """Write the lines of these conversations' attempts, before the caller deletes them; return how many.

    `with_open` counts attempts without an end too: they go where their conversation goes.
    """
    with connection.cursor() as cursor:
        cursor.execute(_GENERATIONS, [list(conversation_ids), with_open, now, run_id])
        return cursor.rowcount


def seal_calls(
    *,
    conversation_ids: Collection[UUID],
    now: datetime,
    run_id: UUID | None,
    seqs: Collection[int] | None = None,
) -> int:
    """Write the lines of these conversations' calls (of the messages named) before they are deleted."""
    named = None if seqs is None else list(seqs)
    with connection.cursor() as cursor:
        cursor.execute(_TOOLS, [list(conversation_ids), named, named, now, run_id])
        return cursor.rowcount
