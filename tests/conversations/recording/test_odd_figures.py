"""Figures that cannot be are kept as sent, and cost the answer nothing."""

from datetime import timedelta

import pytest

from conversations.models import Generation
from tests.conversations.conftest import NOW
from tests.conversations.recording.exchanges import answer, body, user


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 2**40, "output_tokens": 5},
        {"input_tokens": 2**64 - 1, "output_tokens": 5},
        {"input_tokens": 5, "output_tokens": 5, "output_tokens_details": {"thinking_tokens": 9}},
    ],
)
def test_usage_that_cannot_be_is_kept_as_sent_and_costs_the_answer_nothing(record, usage):
    exchange = record(body(user("Hi")), answer("Hello.", usage=usage))

    attempt = Generation.objects.get()
    assert (exchange.match, exchange.answer_seq) == ("started", 2)
    assert (attempt.output_tokens, attempt.reasoning_tokens, attempt.usage) == (5, None, usage)


@pytest.mark.parametrize("count", [2**64, -(2**63) - 1, 10**30])
def test_a_count_past_every_machines_integers_is_kept_by_its_digits(record, count):
    exchange = record(body(user("Hi")), answer("Hello.", usage={"input_tokens": 7, "output_tokens": count}))

    attempt = Generation.objects.get()
    assert (exchange.match, exchange.answer_seq) == ("started", 2)
    assert (attempt.uncached_input_tokens, attempt.output_tokens) == (7, None)
    assert attempt.usage == {"input_tokens": 7, "output_tokens": str(count)}


def test_a_status_and_times_that_cannot_be_are_left_unknown(record):
    record(
        body(user("Hi")),
        http_status=99999,
        started_at=NOW - timedelta(days=400),
        finished_at=NOW,
    )

    attempt = Generation.objects.get()
    assert (attempt.match, attempt.http_status, attempt.total_ms) == ("started", None, None)
