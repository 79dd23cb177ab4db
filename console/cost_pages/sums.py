"""Costs of attempts over a period, summed up in the database and never rounded there.

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
    whole: CostLine
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
_KEYS: Final = {
    Cut.MODEL: (_SERVED, "g.provider"),
    Cut.PROMPT: ("coalesce(nullif(g.prompt_version, ''), '')", "''"),
    Cut.ACCOUNT: ("a.external_id", "r.slug"),
}
_BY_KEY = "SELECT @key, @second, @sums @attempts GROUP BY 1, 2 ORDER BY 5 DESC, 1, 2 LIMIT @most"
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
SELECT (g.created_at AT TIME ZONE %(zone)s)::date, coalesce(sum(g.cost_usd), 0),
    coalesce(sum(g.cost_usd) FILTER (WHERE @failed), 0), count(*) @attempts GROUP BY 1 ORDER BY 1
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
    whole = _rows("SELECT '', '', @sums @attempts", given)[0]
    return Costs(
        whole=CostLine(*whole),
        days=[DayLine(*row) for row in _rows(_DAYS, given)],
        lines=read_lines(period=period, reach=reach, cut=cut),
        pairs=[ModelPair(*row) for row in _rows(_PAIRS, given)],
    )


def read_lines(*, period: Period, reach: Reach, cut: Cut) -> list[CostLine]:
    """Return the sums cut one way, the dearest first."""
    given = _parameters(period, reach)
    if cut == Cut.TOOL:
        return [CostLine(*row) for row in _rows(_BY_TOOL, given)]
    key, second = _KEYS[cut]
    statement = (
        f"SELECT {key}, {second}, {_SUMS} {_ATTEMPTS} GROUP BY 1, 2 ORDER BY 5 DESC, 1, 2 LIMIT {MOST}"
    )
    return [CostLine(*row) for row in _rows(statement, given)]


def read_abandoned(*, period: Period, reach: Reach) -> Abandoned:
    """Return what answers cost that the customer does not see any more; walks forked conversations only."""
    return Abandoned(*_rows(_ABANDONED, _parameters(period, reach))[0])


def _parameters(period: Period, reach: Reach) -> dict[str, Any]:
    return {
        "since": period.since,
        "until": period.until,
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
    ("@sums", _SUMS),
    ("@attempts", _ATTEMPTS),
    ("@spans", PATH_SPANS),
    ("@failed", _FAILED),
    ("@served", _SERVED),
    ("@most", str(MOST)),
)
