"""Costs of attempts over a period, summed up in the database and never rounded there.

An attempt is either a row or counted in one sealed line (retention's roll-ups), so sums add both up.
Sealed lines know no tool, no model that was asked for and no branch: what is cut by these is of rows.
Each sum says how many attempts have no price. "Unused" is the cost of attempts
that gave no answer (failed, cut off, refused) and of answers on branches that
nobody looks at any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from django.db import connection
from django.utils import timezone

from access.reach import Reach
from console.periods import Period
from ledger.querysets import PATH_SPANS

MOST: Final = 200


class Cut(StrEnum):
    """What costs are summed up by."""

    DAY = "day"
    PROVIDER = "provider"
    MODEL = "model"
    TOOL = "tool"
    PROMPT = "prompt"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class CostLine:
    """One sum. `key` is what a link narrows by; `second` stands beside it (the realm of an account)."""

    key: str
    second: str
    attempts: int
    failed: int
    cost: Decimal
    failed_cost: Decimal
    unknown: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class DayLine:
    day: date
    cost: Decimal
    failed_cost: Decimal
    attempts: int


@dataclass(frozen=True, slots=True)
class ModelPair:
    """What was asked for against what served; `cost` is of what served."""

    requested: str
    served: str
    attempts: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Costs:
    """`sealed` is how many of the attempts are known by their totals only."""

    whole: CostLine
    sealed: int = 0
    days: Sequence[DayLine] = field(default_factory=list)
    lines: Sequence[CostLine] = field(default_factory=list)
    pairs: Sequence[ModelPair] = field(default_factory=list)


_SERVED: Final = "coalesce(nullif(g.served_model, ''), g.requested_model)"
_ATTEMPTS = """
FROM conversations_generation g
JOIN conversations_conversation c ON c.id = g.conversation_id
JOIN conversations_account a ON a.id = c.account_id
JOIN access_realm r ON r.id = a.realm_id
WHERE g.created_at >= %(since)s AND g.created_at < %(until)s
AND (%(realms)s::bigint[] IS NULL OR a.realm_id = ANY(%(realms)s::bigint[]))
"""
_FAILED: Final = "g.status IN ('failed', 'refused', 'interrupted', 'cancelled')"
_SUMS = """count(*), count(*) FILTER (WHERE @failed), coalesce(sum(g.cost_usd), 0),
    coalesce(sum(g.cost_usd) FILTER (WHERE @failed), 0), count(*) FILTER (WHERE g.cost_usd IS NULL),
    coalesce(sum(coalesce(g.uncached_input_tokens, 0)::bigint + coalesce(g.cache_read_tokens, 0)
        + coalesce(g.cache_write_5m_tokens, 0) + coalesce(g.cache_write_1h_tokens, 0)), 0)::bigint,
    coalesce(sum(g.output_tokens), 0)::bigint"""
# The days of sealed lines are days of UTC.
_SEALED = """
FROM retention_generationrollup s
JOIN access_realm r ON r.id = s.realm_id
LEFT JOIN conversations_account a ON a.id = s.account_id
WHERE s.day >= %(first_day)s AND s.day <= %(last_day)s
AND (%(realms)s::bigint[] IS NULL OR s.realm_id = ANY(%(realms)s::bigint[]))
"""
_SEALED_SUMS = """coalesce(sum(s.number), 0)::bigint, coalesce(sum(s.failed), 0)::bigint,
    coalesce(sum(s.cost_usd), 0), coalesce(sum(s.failed_cost_usd), 0),
    coalesce(sum(s.cost_unknown), 0)::bigint,
    coalesce(sum(s.uncached_input_tokens + s.cache_read_tokens + s.cache_write_5m_tokens
        + s.cache_write_1h_tokens), 0)::bigint,
    coalesce(sum(s.output_tokens), 0)::bigint"""
# By what attempts are grouped, as rows and as sealed lines say it. An account that was erased has no name.
_KEYS: Final = {
    Cut.DAY: ("((g.created_at AT TIME ZONE %(zone)s)::date)::text, ''", "s.day::text, ''"),
    Cut.PROVIDER: ("g.provider, ''", "s.provider, ''"),
    Cut.MODEL: (f"{_SERVED}, g.provider", "s.model, s.provider"),
    Cut.PROMPT: ("g.prompt_version, ''", "s.prompt_version, ''"),
    Cut.ACCOUNT: ("a.external_id, r.slug", "coalesce(a.external_id, ''), r.slug"),
}
_ADDED = """sum(n)::bigint, sum(failed)::bigint, sum(cost), sum(failed_cost), sum(unknown)::bigint,
    sum(tokens_in)::bigint, sum(tokens_out)::bigint"""
_NAMES = "(key, second, n, failed, cost, failed_cost, unknown, tokens_in, tokens_out)"
_WHOLE = """
SELECT '', '', @added, coalesce(sum(n) FILTER (WHERE second = 'sealed'), 0)::bigint FROM (
    SELECT '', 'rows', @sums @attempts UNION ALL SELECT '', 'sealed', @of_sealed @sealed) both_kinds @names
"""
_BY_KEY = """
SELECT key, second, @added FROM (
    SELECT @row_keys, @sums @attempts GROUP BY 1, 2
    UNION ALL SELECT @line_keys, @of_sealed @sealed GROUP BY 1, 2
) both_kinds @names GROUP BY 1, 2 ORDER BY @order
"""
# An attempt counts for each tool that its answer called, once however often it did.
_BY_TOOL = """
SELECT t.name, '', @sums
FROM conversations_generation g
JOIN conversations_conversation c ON c.id = g.conversation_id
JOIN conversations_account a ON a.id = c.account_id
JOIN LATERAL (
    SELECT DISTINCT t.name FROM conversations_toolcall t
    WHERE t.conversation_id = g.conversation_id AND t.seq = g.message_seq) t ON true
WHERE g.created_at >= %(since)s AND g.created_at < %(until)s
AND (%(realms)s::bigint[] IS NULL OR a.realm_id = ANY(%(realms)s::bigint[]))
GROUP BY t.name ORDER BY 5 DESC, 1 LIMIT @most
"""
_ABANDONED = """
WITH RECURSIVE found AS MATERIALIZED (
    SELECT g.conversation_id, g.message_seq, g.cost_usd @attempts
    AND g.message_seq IS NOT NULL AND g.cost_usd IS NOT NULL
    AND (c.has_fork OR c.head_seq IS DISTINCT FROM c.next_seq - 1)
), heads AS MATERIALIZED (
    SELECT c.id, c.head_seq FROM conversations_conversation c
    WHERE c.id IN (SELECT conversation_id FROM found)
), @spans
SELECT count(*), coalesce(sum(f.cost_usd), 0) FROM found f
WHERE NOT EXISTS (
    SELECT FROM spans s WHERE s.id = f.conversation_id
    AND f.message_seq BETWEEN s.first_seq AND s.last_seq)
"""
_DAYS = """
SELECT day, sum(cost), sum(failed), sum(n)::bigint FROM (
    SELECT (g.created_at AT TIME ZONE %(zone)s)::date, coalesce(sum(g.cost_usd), 0),
        coalesce(sum(g.cost_usd) FILTER (WHERE @failed), 0), count(*) @attempts GROUP BY 1
    UNION ALL
    SELECT s.day, sum(s.cost_usd), sum(s.failed_cost_usd), sum(s.number) @sealed GROUP BY 1
) both_kinds (day, cost, failed, n) GROUP BY 1 ORDER BY 1
"""
_PAIRS = """
SELECT g.requested_model, @served, count(*), coalesce(sum(g.cost_usd), 0) @attempts
GROUP BY 1, 2 HAVING g.requested_model <> @served ORDER BY 3 DESC, 1, 2 LIMIT @most
"""


@dataclass(frozen=True, slots=True)
class Abandoned:
    """Answers on branches that are not live, and what they cost."""

    answers: int
    cost: Decimal


def read_costs(*, period: Period, reach: Reach, cut: Cut) -> Costs:
    """Return the sums of a period, cut one way; four queries that read the attempts of the period."""
    given = _parameters(period, reach)
    whole, sealed = read_whole(period=period, reach=reach)
    return Costs(
        whole=whole,
        sealed=sealed,
        days=[DayLine(*row) for row in _rows(_DAYS, given)],
        lines=read_lines(period=period, reach=reach, cut=cut),
        pairs=[ModelPair(*row) for row in _rows(_PAIRS, given)],
    )


def read_whole(*, period: Period, reach: Reach) -> tuple[CostLine, int]:
    """Return the sum of a period, and how many of its attempts are known by their totals only."""
    *whole, sealed = _rows(_WHOLE, _parameters(period, reach))[0]
    return CostLine(*whole), sealed


def read_lines(*, period: Period, reach: Reach, cut: Cut) -> list[CostLine]:
    """Return the sums cut one way: every day in its order, of anything else the dearest first, up to MOST."""
    given = _parameters(period, reach)
    if cut == Cut.TOOL:
        return [CostLine(*row) for row in _rows(_BY_TOOL, given)]
    of_rows, of_lines = _KEYS[cut]
    order = "1" if cut == Cut.DAY else "5 DESC, 1, 2 LIMIT @most"
    statement = _BY_KEY.replace("@row_keys", of_rows).replace("@line_keys", of_lines).replace("@order", order)
    return [CostLine(*row) for row in _rows(statement, given)]


def read_abandoned(*, period: Period, reach: Reach) -> Abandoned:
    """Return what answers cost that the customer does not see any more; walks forked conversations only."""
    return Abandoned(*_rows(_ABANDONED, _parameters(period, reach))[0])


def _parameters(period: Period, reach: Reach) -> dict[str, Any]:
    return {
        "since": period.since,
        "until": period.until,
        "first_day": period.first_day,
        "last_day": period.last_day,
        "realms": None if reach.sees_all else sorted(reach.realm_ids),
        "zone": timezone.get_current_timezone_name(),
    }


def _rows(statement: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    for name, piece in _PIECES:
        statement = statement.replace(name, piece)
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


# The constant pieces that statements name; a piece may name those that come after it.
_PIECES: Final = (
    ("@added", _ADDED),
    ("@names", _NAMES),
    ("@sums", _SUMS),
    ("@attempts", _ATTEMPTS),
    ("@of_sealed", _SEALED_SUMS),
    ("@sealed", _SEALED),
    ("@spans", PATH_SPANS),
    ("@failed", _FAILED),
    ("@served", _SERVED),
    ("@most", str(MOST)),
)
