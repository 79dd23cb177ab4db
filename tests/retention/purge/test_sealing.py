"""Attempts and calls are counted into sealed lines before they go."""

from datetime import timedelta
from decimal import Decimal

import pytest

from conversations.models import Generation
from retention.models import GenerationRollup, ToolRollup
from tests.retention.conftest import NOW, add_attempt

pytestmark = pytest.mark.django_db


def test_attempts_are_sealed_before_they_go(make_talk, account, run_purge):
    talk = make_talk()
    add_attempt(talk.id, 1, output_tokens=20, cost_usd="0.000000012", cost_confidence="exact", total_ms=1000)
    add_attempt(
        talk.id, 2, output_tokens=22, cost_usd="0.000000030", cost_confidence="estimated", total_ms=1010
    )
    add_attempt(talk.id, 3, status="failed", cost_confidence="unknown", total_ms=70_000)

    run_purge(now=NOW + timedelta(days=31))

    line = GenerationRollup.objects.get()
    assert not Generation.objects.exists()
    assert (line.day, line.account_id, line.number, line.failed) == (NOW.date(), account.pk, 3, 1)
    assert (line.output_tokens, line.cost_usd) == (42, Decimal("0.000000042"))
    assert (line.cost_estimated, line.cost_unknown) == (1, 1)
    assert sorted(line.latency.values()) == [1, 2]


def test_late_attempts_are_further_lines(make_talk, run_purge):
    talk = make_talk()
    add_attempt(talk.id, 1, output_tokens=20)
    run_purge(now=NOW + timedelta(days=31))
    add_attempt(talk.id, 2, output_tokens=22)

    run_purge()

    assert [line.output_tokens for line in GenerationRollup.objects.order_by("pk")] == [20, 22]


def test_calls_are_sealed_with_their_conversation(talk, run_purge):
    talk.says()
    talk.answers("call_1", below=talk.calls("call_1"))

    run_purge()

    line = ToolRollup.objects.get()
    assert (line.tool, line.number, line.failed) == ("charge_card", 1, 0)


def test_an_open_attempt_keeps_its_row(make_talk, run_purge):
    talk = make_talk()
    add_attempt(talk.id, 1, status="streaming", finished_at=None)

    run_purge(now=NOW + timedelta(days=31))

    assert Generation.objects.count() == 1
    assert not GenerationRollup.objects.exists()
