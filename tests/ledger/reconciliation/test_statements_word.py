"""A charge that has no answer is settled by the statement that shows it, where a person takes its word."""

import pytest

from conversations.errors import ConflictError
from ledger.models import Finding
from ledger.reconciliation.desk import take_the_statements_word
from ledger.services.settling import settle_effect
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, found, line, tied
from tests.ledger.seen import AGENT, declined

pytestmark = pytest.mark.django_db
AFTER = CUT_OFF + DAY


@pytest.fixture
def take(staff):
    user = staff("fay")

    def make(kind="state_differs"):
        finding = Finding.objects.get(kind=kind)
        return take_the_statements_word(finding_id=finding.pk, user=user, now=AFTER)

    return make


@pytest.mark.parametrize("has_failed", [False, True], ids=["pending", "failed"])
def test_it_is_applied_with_the_charge_and_the_next_run_ties_out(statement, run, begins, take, has_failed):
    effect = begins()
    if has_failed:
        settle_effect(effect_id=effect.pk, seen=declined(effect_id=effect.pk), actor=AGENT, now=NOW)
    document = statement(line("charge", "ch_9", 1900, effect=effect))
    assert found(run(document)) == [("state_differs", "ch_9", 1900)]

    take()

    effect.refresh_from_db()
    assert (effect.state, effect.external_ref, effect.amount_settled_minor) == ("applied", "ch_9", 1900)
    again = run(document, cut_off=AFTER)
    assert found(again) == []
    assert tied(again) == {"usd": (1900, 1900, 0, 0)}


def test_what_a_partial_capture_let_go_is_not_settled(statement, run, begins, take):
    effect = begins(amount=10_000)
    document = statement(
        line("charge", "ch_9", 10_000, effect=effect),
        line("release", "re_9", 4_000, charge_ref="ch_9"),
        line("release", "re_8", 500, charge_ref="ch_8"),
    )
    run(document)

    take()

    effect.refresh_from_db()
    assert effect.amount_settled_minor == 6_000
    assert found(run(document, cut_off=AFTER)) == []


def test_of_two_charges_under_one_key_the_first_settles_and_the_second_stays(statement, run, begins, take):
    effect = begins(amount=2400)
    document = statement(
        line("charge", "ch_70", 2400, effect=effect),
        line("charge", "ch_71", 2400, at=NOW + DAY / 2, effect=effect),
    )
    assert found(run(document)) == [("contradiction", "ch_71", 2400), ("state_differs", "ch_70", 2400)]

    take()

    assert found(run(document, cut_off=AFTER)) == [("contradiction", "ch_71", 2400)]


def test_it_is_taken_once(statement, run, begins, take):
    effect = begins()
    run(statement(line("charge", "ch_9", 1900, effect=effect)))
    take()

    with pytest.raises(ConflictError):
        take()


def test_a_charge_that_failed_at_the_processor_is_settled_by_nobody(statement, run, pays, take):
    pays("ch_1")
    run(statement(line("charge", "ch_1", 1900, status="failed")))

    with pytest.raises(ConflictError):
        take()
