"""Calls per tool over a period: errors, latency, the most common errors, calls that succeeded on retry.

A retry is a later call of the same tool with the same arguments in the same
conversation, after one that failed. Percentiles are exact, over the calls
whose duration is known.

A call is either a row or counted in one sealed line (retention's roll-ups); counts add both up.
Where a tool has sealed lines its percentiles are read from merged buckets, off by a twelfth at most.
Error codes and retries are of rows: a sealed line does not know them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import connection
from django.utils import timezone

from access.reach import Reach
from console.periods import Period
from retention.purging.sealing import BUCKETS_PER_DOUBLING, bucket_sql

MOST_TOOLS = 100
MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool. `answered` are the calls that succeeded or failed; times are milliseconds.

    `sealed` of the calls are known by their totals only; then p50 and p95 are near, not exact.
    """

    name: str
    calls: int
    succeeded: int
    failed: int
    waiting: int
    p50: int | None
    p95: int | None
    retried: int
    sealed: int = 0

    @property
    def error_percent(self) -> str:
        """Of the answered calls, in tenths of a percent; nothing where none was answered."""
        answered = self.succeeded + self.failed
        if not answered:
            return "–"
        tenths = (self.failed * 2000 + answered) // (2 * answered)
        return f"{tenths // 10}.{tenths % 10} %"


@dataclass(frozen=True, slots=True)
class ErrorLine:
    tool: str
    code: str
    calls: int


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    succeeded: int
    failed: int
    other: int


@dataclass(frozen=True, slots=True)
class ToolStatistics:
    tools: Sequence[ToolLine] = field(default_factory=list)
    errors: Sequence[ErrorLine] = field(default_factory=list)
    days: Sequence[Day] = field(default_factory=list)

    @property
    def has_more(self) -> bool:
        return len(self.tools) == MOST_TOOLS

    @property
    def sealed(self) -> int:
        return sum(tool.sealed for tool in self.tools)


# The calls of the period within reach; the realm is asked for only where not all of them are seen.
_CALLS = """
SELECT t.* FROM conversations_toolcall t
WHERE t.requested_at >= %(since)s AND t.requested_at < %(until)s
AND (%(realms)s::bigint[] IS NULL OR EXISTS (
    SELECT FROM conversations_conversation c JOIN conversations_account a ON a.id = c.account_id
    WHERE c.id = t.conversation_id AND a.realm_id = ANY(%(realms)s::bigint[])))
"""

# Days of sealed lines are days of UTC.
_SEALED = """
SELECT s.* FROM retention_toolrollup s
WHERE s.day >= %(first_day)s AND s.day <= %(last_day)s
AND (%(realms)s::bigint[] IS NULL OR s.realm_id = ANY(%(realms)s::bigint[]))
"""

_TOOLS = """
WITH calls AS MATERIALIZED (@calls), lines AS MATERIALIZED (@sealed), of_rows AS (
    SELECT name, count(*) AS n, count(*) FILTER (WHERE status = 'succeeded') AS succeeded,
        count(*) FILTER (WHERE status = 'failed') AS failed,
        count(*) FILTER (WHERE status NOT IN ('succeeded', 'failed')) AS waiting,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) AS p50,
        percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95,
        count(*) FILTER (WHERE status = 'succeeded' AND EXISTS (
            SELECT FROM conversations_toolcall f
            WHERE f.conversation_id = calls.conversation_id AND f.name = calls.name AND f.status = 'failed'
            AND f.seq < calls.seq AND f.arguments IS NOT DISTINCT FROM calls.arguments)) AS retried
    FROM calls GROUP BY name
), sealed AS (
    SELECT tool AS name, sum(number)::bigint AS n, sum(failed)::bigint AS failed,
        sum(unanswered)::bigint AS waiting
    FROM lines GROUP BY tool
), buckets AS (
    SELECT name, bucket, sum(n) AS n FROM (
        SELECT name, @bucket, count(*) FROM calls
            WHERE duration_ms >= 0 AND name IN (SELECT name FROM sealed) GROUP BY 1, 2
        UNION ALL
        SELECT tool, counted.key::int, counted.value::bigint
            FROM lines CROSS JOIN LATERAL jsonb_each_text(latency) AS counted
    ) both_kinds (name, bucket, n) GROUP BY 1, 2
), quantiles AS (
    SELECT name, min(bucket) FILTER (WHERE upto >= 0.5 * whole) AS p50,
        min(bucket) FILTER (WHERE upto >= 0.95 * whole) AS p95
    FROM (SELECT name, bucket, sum(n) OVER (PARTITION BY name ORDER BY bucket) AS upto,
        sum(n) OVER (PARTITION BY name) AS whole FROM buckets) ranked
    GROUP BY name
)
SELECT name, coalesce(r.n, 0) + coalesce(s.n, 0),
    coalesce(r.succeeded, 0) + coalesce(s.n - s.failed - s.waiting, 0),
    coalesce(r.failed, 0) + coalesce(s.failed, 0), coalesce(r.waiting, 0) + coalesce(s.waiting, 0),
    CASE WHEN s.n IS NULL THEN r.p50 ELSE @middle_of_p50 END,
    CASE WHEN s.n IS NULL THEN r.p95 ELSE @middle_of_p95 END,
    coalesce(r.retried, 0), coalesce(s.n, 0)
FROM of_rows r FULL JOIN sealed s USING (name) LEFT JOIN quantiles q USING (name)
ORDER BY 2 DESC, name LIMIT @tools
"""

_ERRORS = """
SELECT name, error_code, count(*) FROM (@calls) c
WHERE status = 'failed' GROUP BY name, error_code ORDER BY count(*) DESC, name, error_code LIMIT @errors
"""

_DAYS = """
SELECT day, sum(succeeded)::bigint, sum(failed)::bigint, sum(other)::bigint FROM (
    SELECT (requested_at AT TIME ZONE %(zone)s)::date, count(*) FILTER (WHERE status = 'succeeded'),
        count(*) FILTER (WHERE status = 'failed'),
        count(*) FILTER (WHERE status NOT IN ('succeeded', 'failed'))
    FROM (@calls) c GROUP BY 1
    UNION ALL
    SELECT day, sum(number - failed - unanswered), sum(failed), sum(unanswered)
    FROM (@sealed) s GROUP BY 1
) both_kinds (day, succeeded, failed, other) GROUP BY 1 ORDER BY 1
"""


def read_statistics(*, period: Period, reach: Reach) -> ToolStatistics:
    """Return the statistics of a period; three queries, whose cost grows with the calls of the period."""
    parameters = {
        "since": period.since,
        "until": period.until,
        "first_day": period.first_day,
        "last_day": period.last_day,
        "realms": None if reach.sees_all else sorted(reach.realm_ids),
        "zone": timezone.get_current_timezone_name(),
    }
    return ToolStatistics(
        tools=[ToolLine(*row) for row in _rows(_TOOLS, parameters)],
        errors=[ErrorLine(*row) for row in _rows(_ERRORS, parameters)],
        days=[Day(*row) for row in _rows(_DAYS, parameters)],
    )


def _rows(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    for name, piece in _PIECES:
        statement = statement.replace(name, piece)
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


def _middle(quantile: str) -> str:
    """The milliseconds in the middle of a bucket, as a whole number."""
    return f"round(power(2, (q.{quantile} + 0.5) / {BUCKETS_PER_DOUBLING}) - 1)::int"


# The constant pieces that statements name.
_PIECES = (
    ("@calls", _CALLS),
    ("@sealed", _SEALED),
    ("@bucket", bucket_sql("duration_ms")),
    ("@middle_of_p50", _middle("p50")),
    ("@middle_of_p95", _middle("p95")),
    ("@tools", str(MOST_TOOLS)),
    ("@errors", str(MOST_ERRORS)),
)
