"""Calls per tool over a period: errors, latency, the most common errors, calls that succeeded on retry.

A retry is a later call of the same tool with the same arguments in the same
conversation, after one that failed. Percentiles are exact, over the calls
whose duration is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import connection
from django.utils import timezone

from access.reach import Reach
from console.periods import Period

MOST_TOOLS = 100
MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool. `answered` are the calls that succeeded or failed; times are milliseconds."""

    name: str
    calls: int
    succeeded: int
    failed: int
    waiting: int
    p50: int | None
    p95: int | None
    retried: int

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


# The calls of the period within reach; the realm is asked for only where not all of them are seen.
_CALLS = """
SELECT t.* FROM conversations_toolcall t
WHERE t.requested_at >= %(since)s AND t.requested_at < %(until)s
AND (%(realms)s::bigint[] IS NULL OR EXISTS (
    SELECT FROM conversations_conversation c JOIN conversations_account a ON a.id = c.account_id
    WHERE c.id = t.conversation_id AND a.realm_id = ANY(%(realms)s::bigint[])))
"""

_TOOLS = """
WITH calls AS MATERIALIZED (@calls)
SELECT name, count(*), count(*) FILTER (WHERE status = 'succeeded'),
    count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status NOT IN ('succeeded', 'failed')),
    percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms),
    percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms),
    count(*) FILTER (WHERE status = 'succeeded' AND EXISTS (
        SELECT FROM conversations_toolcall f
        WHERE f.conversation_id = calls.conversation_id AND f.name = calls.name AND f.status = 'failed'
        AND f.seq < calls.seq AND f.arguments IS NOT DISTINCT FROM calls.arguments))
FROM calls GROUP BY name ORDER BY count(*) DESC, name LIMIT @tools
"""

_ERRORS = """
SELECT name, error_code, count(*) FROM (@calls) c
WHERE status = 'failed' GROUP BY name, error_code ORDER BY count(*) DESC, name, error_code LIMIT @errors
"""

_DAYS = """
SELECT (requested_at AT TIME ZONE %(zone)s)::date, count(*) FILTER (WHERE status = 'succeeded'),
    count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status NOT IN ('succeeded', 'failed'))
FROM (@calls) c GROUP BY 1 ORDER BY 1
"""


def read_statistics(*, period: Period, reach: Reach) -> ToolStatistics:
    """Return the statistics of a period; three queries, whose cost grows with the calls of the period."""
    parameters = {
        "since": period.since,
        "until": period.until,
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


# The constant pieces that statements name.
_PIECES = (("@calls", _CALLS), ("@tools", str(MOST_TOOLS)), ("@errors", str(MOST_ERRORS)))
