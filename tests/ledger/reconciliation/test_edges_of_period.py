"""What happened at the edges of the period, or stands in two statements."""

from datetime import timedelta

import pytest

from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import DAY, found, line, tied

pytestmark = pytest.mark.django_db


def test_what_happened_outside_the_period_is_matched_but_not_judged(statement, run, pays):
    pays("ch_1", at=NOW - 20 * DAY)

    done = run(statement(line("charge", "ch_1", 1000, at=NOW - 20 * DAY)))

    assert found(done) == []
    assert (tied(done), done.rows.get(reference="ch_1").is_counted) == ({}, False)


def test_a_charge_at_the_periods_edge_is_missing_on_no_side(statement, run, pays):
    """The processor's row may be a second before the period, the ledger's moment within it."""
    edge = NOW - 8 * DAY
    pays("ch_1", at=edge)

    assert found(run(statement(line("charge", "ch_1", 1900, at=edge - timedelta(seconds=1))))) == []


def test_two_statements_of_one_day_count_each_movement_once(statement, run, pays):
    pays("ch_1")
    first = statement(line("charge", "ch_1", 1900))
    second = statement(line("charge", "ch_1", 1900), line("charge", "ch_9", 100), name="again.csv")

    done = run(first, second)

    assert found(done) == [("missing_in_ledger", "ch_9", 100)]
    assert done.rows.filter(reference="ch_1").count() == 1
