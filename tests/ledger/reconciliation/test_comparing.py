"""The ledger beside a statement: what ties, and what either side lacks."""

import io
from datetime import timedelta

import pytest

from access.models import Realm
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.settling import settle_effect
from ledger.statements.importing import Told, import_statement
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, SINCE, UNTIL, found, give, line, tied
from tests.ledger.seen import AGENT, charged

pytestmark = pytest.mark.django_db


def test_what_both_sides_know_ties_out_and_is_no_finding(statement, run, pays):
    effect = pays("ch_1")
    pays("ch_2", amount=5800, currency="jpy")
    give(effect)

    done = run(
        statement(
            line("charge", "ch_1", 1900),
            line("charge", "ch_2", 5800, currency="jpy"),
            line("refund", "re_1", 500, charge_ref="ch_1"),
        )
    )

    assert found(done) == []
    assert tied(done) == {"jpy": (5800, 5800, 0, 0), "usd": (1400, 1400, 0, 0)}


def test_a_charge_that_the_ledger_lacks_is_unexplained(statement, run, pays):
    pays("ch_1")

    done = run(statement(line("charge", "ch_1", 1900), line("charge", "ch_9", 6200, currency="eur")))

    assert found(done) == [("missing_in_ledger", "ch_9", 6200)]
    assert tied(done)["eur"] == (0, 6200, 0, 6200)


def test_a_refund_made_elsewhere_is_missing_and_leads_to_its_charge(statement, run, pays):
    effect = pays("ch_1")

    done = run(statement(line("charge", "ch_1", 1900), line("refund", "re_9", 500, charge_ref="ch_1")))

    assert found(done) == [("missing_in_ledger", "re_9", -500)]
    assert done.sightings.get().effect_id == effect.pk


def test_a_charge_that_the_processor_lacks_is_unexplained(statement, run, pays):
    pays("ch_1")

    done = run(statement())

    assert found(done) == [("missing_at_processor", "ch_1", 1900)]
    assert tied(done) == {"usd": (1900, 0, 0, -1900)}


def test_a_refund_that_the_processor_lacks_is_missing_there(statement, run, pays):
    give(pays("ch_1"))

    done = run(statement(line("charge", "ch_1", 1900)))

    assert found(done) == [("missing_at_processor", "re_1", 500)]


def test_what_is_younger_than_the_policy_waits_and_is_no_finding(statement, run, pays, begins):
    pays("ch_1")
    marked = begins()

    done = run(
        statement(line("charge", "ch_9", 100), line("charge", "ch_5", 1900, effect=marked)),
        cut_off=UNTIL,
        until=NOW + timedelta(hours=1),
    )

    assert found(done) != []
    waiting = run(
        statement(line("charge", "ch_8", 100), line("charge", "ch_5", 1900, effect=marked)),
        cut_off=NOW + timedelta(hours=1),
        until=NOW + timedelta(hours=1),
    )
    assert found(waiting) == []
    assert waiting.rows.filter(is_waiting=True).count() == 3


def test_batches_of_two_lines_find_what_one_batch_finds(statement, run, pays, begins):
    lines = [line("charge", f"ch_{number}", 1900) for number in range(5)]
    for number in range(4):
        pays(f"ch_{number}")
    document = statement(*lines, line("charge", "ch_7", 1900, effect=begins()))

    small, large = run(document, lines_at_once=2), run(document)

    assert found(small) == [("missing_in_ledger", "ch_4", 1900), ("state_differs", "ch_7", 1900)]
    assert small.report == large.report


def test_charges_of_another_realm_are_not_ours_to_judge(pays):
    pays("ch_1")
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)
    text = "kind,reference,currency,occurred_at,amount_minor\n"
    text += "".join(f"charge,{charge},usd,{NOW.isoformat()},100\n" for charge in ("ch_1", "ch_9"))
    told = Told(name="o.csv", processor="stripe", period_start=SINCE, period_end=UNTIL)
    imported = import_statement(
        realm=other, file=io.BytesIO(text.encode()), told=told, actor=FINANCE, now=UNTIL
    )
    asked = Asked(
        realm=other,
        processor="stripe",
        statement_ids=[imported.statement.pk],
        cut_off=CUT_OFF,
        judges_unknown=False,
    )

    run = start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)
    reconcile(run_id=run.job_id, clock=lambda: CUT_OFF)

    run.refresh_from_db()
    assert found(run) == []
    assert tied(run) == {}
    assert set(run.rows.values_list("reference", "matched_by")) == {
        ("ch_1", "other_realm"),
        ("ch_9", "other_realm"),
    }


def test_what_was_learned_after_the_cut_off_is_not_known(statement, run, begins):
    effect = begins()
    seen = charged("ch_1", effect_id=effect.pk)
    settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=CUT_OFF + DAY)
    document = statement(line("charge", "ch_1", 1900, effect=effect))

    assert found(run(document)) == [("state_differs", "ch_1", 1900)]
    assert found(run(document, cut_off=CUT_OFF + 2 * DAY)) == []
