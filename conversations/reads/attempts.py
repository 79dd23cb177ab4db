"""Attempts beside the messages they belong to, and their sums by branch.

An attempt belongs to its answer; one without an answer belongs to the answer
that another attempt of the same request got; else to the message it was made
below; and one that hangs nowhere belongs to the conversation as a whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from conversations.vocabulary import GenerationStatus

# Endings that brought no whole answer.
FAILED = (
    GenerationStatus.INTERRUPTED.value,
    GenerationStatus.FAILED.value,
    GenerationStatus.REFUSED.value,
    GenerationStatus.CANCELLED.value,
)


class ShownAttempt(NamedTuple):
    """One attempt; `owner_seq` is the message it belongs to, `is_answer` whether that is its answer."""

    number: int
    owner_seq: int | None
    message_seq: int | None
    leaf_seq: int | None
    request_id: str
    attempt: int
    provider: str
    dialect: str
    requested_model: str
    served_model: str
    status: str
    stop_reason: str
    error_code: str
    error_message: str | None
    http_status: int | None
    match: str
    notes: list[str]
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: Decimal | None
    cost_confidence: str
    total_ms: int | None
    first_token_ms: int | None
    created_at: datetime
    body_proof: str
    provider_response_id: str
    provider_request_id: str
    prompt_version: str

    @property
    def is_failed(self) -> bool:
        return self.status in FAILED

    @property
    def is_fallback(self) -> bool:
        """Served by another model than asked for; a dated name of the same model is no other."""
        return bool(self.served_model) and not self.served_model.startswith(self.requested_model)


@dataclass(frozen=True, slots=True)
class AttemptSum:
    attempts: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    unpriced: int = 0

    def __add__(self, other: "AttemptSum") -> "AttemptSum":
        return AttemptSum(
            self.attempts + other.attempts,
            self.failed + other.failed,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
            self.unpriced + other.unpriced,
        )


def read_attempts(
    *, conversation_id: UUID, owners: Sequence[int], with_words: bool
) -> dict[int | None, list[ShownAttempt]]:
    """Return the attempts of these messages by message, and those that hang nowhere under None.

    `with_words` says whether error texts may be read: a provider repeats in them what it was sent.
    """
    words = "error_message" if with_words else "NULL"
    with connection.cursor() as cursor:
        cursor.execute(_ATTEMPTS.format(words=words), [conversation_id, list(owners)])
        found: dict[int | None, list[ShownAttempt]] = {}
        for row in cursor.fetchall():
            attempt = ShownAttempt._make(row)
            found.setdefault(attempt.owner_seq, []).append(attempt)
    return found


def sum_attempts(*, conversation_id: UUID, seqs: Sequence[int]) -> tuple[AttemptSum, AttemptSum, AttemptSum]:
    """Return the exact sums of attempts that belong to these messages, to others, and to none."""
    sums = {True: AttemptSum(), False: AttemptSum(), None: AttemptSum()}
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, [list(FAILED), list(seqs), conversation_id])
        for on_path, *columns in cursor.fetchall():
            sums[on_path] = AttemptSum(*columns)
    return sums[True], sums[False], sums[None]


_OWNER = "coalesce(message_seq, max(message_seq) OVER (PARTITION BY request_id), leaf_seq)"
_INPUT = (
    "uncached_input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_5m_tokens, 0)"
    " + coalesce(cache_write_1h_tokens, 0)"
)
_ATTEMPTS = f"""
SELECT * FROM (
    SELECT number, {_OWNER} AS owner_seq, message_seq, leaf_seq, request_id, attempt, provider, dialect,
        requested_model, served_model, status, stop_reason, error_code, {{words}}, http_status, match, notes,
        {_INPUT}, cache_read_tokens, output_tokens, reasoning_tokens, cost_usd, cost_confidence, total_ms,
        first_token_ms, created_at, body_proof, provider_response_id, provider_request_id, prompt_version
    FROM conversations_generation WHERE conversation_id = %s
) attempts WHERE owner_seq = ANY(%s) OR owner_seq IS NULL ORDER BY number
"""
_SUMS = f"""
SELECT on_path, count(*), count(*) FILTER (WHERE status = ANY(%s)), coalesce(sum(input), 0)::bigint,
    coalesce(sum(output_tokens), 0)::bigint, coalesce(sum(cost_usd), 0),
    count(*) FILTER (WHERE cost_usd IS NULL)
FROM (
    SELECT {_OWNER} = ANY(%s) AS on_path, status, {_INPUT} AS input, output_tokens, cost_usd
    FROM conversations_generation WHERE conversation_id = %s
) attempts GROUP BY on_path
"""
