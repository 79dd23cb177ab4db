"""A person's word on a suggested match: for the whole movement, and once."""

import pytest

from conversations.errors import ConflictError
from ledger.models import Finding, MatchDecision
from ledger.reconciliation.desk import decide_on_match
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, found, line

pytestmark = pytest.mark.django_db
AFTER = CUT_OFF + DAY


@pytest.fixture
def user(staff):
    return staff("fay")


@pytest.fixture
def confirm(user):
    def make(*, is_confirmed=True):
        return decide_on_match(
            finding_id=Finding.objects.get().pk, is_confirmed=is_confirmed, user=user, now=AFTER
        )

    return make


def test_a_charge_that_was_captured_in_steps_settles_with_all_of_them(statement, run, begins, confirm):
    effect = begins()
    document = statement(line("charge", "ch_9", 1200), line("charge", "ch_9", 700))
    assert found(run(document)) == [("missing_in_ledger", "ch_9", 1900)]

    confirm()

    effect.refresh_from_db()
    assert (effect.external_ref, effect.amount_settled_minor) == ("ch_9", 1900)
    assert found(run(document, cut_off=AFTER)) == []


def test_a_charge_that_two_statements_show_settles_once(statement, run, begins, confirm):
    effect = begins()
    charge = line("charge", "ch_9", 1900)
    run(statement(charge), statement(charge, line("other", "adj_1", 0)))

    confirm()

    effect.refresh_from_db()
    assert effect.amount_settled_minor == 1900


def test_what_was_confirmed_is_not_refused_afterwards(statement, run, begins, confirm):
    begins()
    run(statement(line("charge", "ch_9", 1900)))
    confirm()

    with pytest.raises(ConflictError):
        confirm(is_confirmed=False)

    assert MatchDecision.objects.get().is_confirmed is True
