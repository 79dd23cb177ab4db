"""The ledger beside a statement: what ties, what differs, and how each difference is named."""

import io
from datetime import timedelta

import pytest

from access.models import Realm
from ledger.evidence import RefundSeen
from ledger.reconciliation.running import reconcile
from ledger.reconciliation.starting import Asked, start_reconciliation
from ledger.services.refunds import take_refund
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from ledger.statements.importing import Told, import_statement
from ledger.vocabulary import ReferenceKind
from tests.conversations.conftest import NOW
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, SINCE, UNTIL, found, line, tied
from tests.ledger.seen import AGENT, charged, declined, refunded

pytestmark = pytest.mark.django_db


def give(effect, refund="re_1", amount=500, **given) -> None:
    seen: RefundSeen = refunded(refund, charge=effect.external_ref, amount_minor=amount, **given)
    take_refund(effect_id=effect.pk, seen=seen, actor=AGENT, now=NOW)


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


@pytest.mark.parametrize("is_shown", [True, False])
def test_a_refund_by_a_tool_of_a_charge_that_we_know_counts_once(
    statement, run, pays, talk, register, is_shown
):
    """It stands twice in the ledger: as what the tool did, and as what its charge gave back."""
    register("give_back", operation="refund", amount_path="", currency_path="")
    charge = pays("ch_1")
    talk.says()
    refund = talk.begins(talk.calls("toolu_r", name="give_back", arguments="{}"), "toolu_r").effect
    mark_sent(effect_id=refund.pk, now=NOW)
    seen = charged("re_1", amount_minor=500, references=[(ReferenceKind.REFUND, "re_1")], effect_id=refund.pk)
    settle_effect(effect_id=refund.pk, seen=seen, actor=AGENT, now=NOW)
    give(charge)
    shown = [line("refund", "re_1", 500, charge_ref="ch_1")] if is_shown else []

    done = run(statement(line("charge", "ch_1", 1900), *shown))

    assert found(done) == ([] if is_shown else [("missing_at_processor", "re_1", 500)])
    assert tied(done)["usd"] == ((1400, 1400, 0, 0) if is_shown else (1400, 1900, 0, 500))


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


def test_another_amount_differs_by_so_much(statement, run, pays):
    pays("ch_1", amount=1900)

    done = run(statement(line("charge", "ch_1", 1935)))

    assert found(done) == [("amount_differs", "ch_1", 35)]
    assert tied(done) == {"usd": (1900, 1935, 0, 35)}


def test_another_currency_differs_and_counts_on_both_sides(statement, run, pays):
    pays("ch_1", amount=1900, currency="usd")

    done = run(statement(line("charge", "ch_1", 1900, currency="eur")))

    assert found(done) == [("currency_differs", "ch_1", 1900)]
    assert tied(done) == {"eur": (0, 1900, 0, 1900), "usd": (1900, 0, 0, -1900)}


def test_a_pending_effect_that_the_processor_has_charged_differs_in_state(statement, run, begins):
    effect = begins()

    done = run(statement(line("charge", "ch_1", 1900, effect=effect)))

    assert found(done) == [("state_differs", "ch_1", 1900)]
    assert tied(done) == {"usd": (0, 1900, 1900, 0)}


def test_an_applied_effect_that_failed_at_the_processor_differs_in_state(statement, run, pays):
    pays("ch_1")

    done = run(statement(line("charge", "ch_1", 1900, status="failed")))

    assert found(done) == [("state_differs", "ch_1", -1900)]


def test_an_attempt_that_was_declined_before_the_good_one_is_no_difference(statement, run, begins):
    effect = begins()
    settle_effect(effect_id=effect.pk, seen=declined("ch_0", effect_id=effect.pk), actor=AGENT, now=NOW)
    settle_effect(effect_id=effect.pk, seen=charged("ch_1", effect_id=effect.pk), actor=AGENT, now=NOW)

    done = run(
        statement(
            line("charge", "ch_0", 1900, status="failed", effect=effect),
            line("charge", "ch_1", 1900, effect=effect),
        )
    )

    assert found(done) == []
    assert tied(done) == {"usd": (1900, 1900, 0, 0)}


def test_two_charges_under_one_key_are_both_kept_and_none_is_picked_in_silence(statement, run, begins):
    effect = begins(amount=2400)

    done = run(
        statement(
            line("charge", "ch_71", 2400, effect=effect, at=NOW + timedelta(hours=2)),
            line("charge", "ch_70", 2400, effect=effect),
        )
    )

    assert found(done) == [("contradiction", "ch_71", 2400), ("state_differs", "ch_70", 2400)]
    assert {row.effect_id for row in done.rows.filter(kind="charge")} == {effect.pk}


def test_a_second_charge_that_a_webhook_told_of_is_found_once(statement, run, pays):
    effect = pays("ch_1")
    settle_effect(effect_id=effect.pk, seen=charged("ch_2", effect_id=effect.pk), actor=AGENT, now=NOW)

    done = run(statement(line("charge", "ch_1", 1900), line("charge", "ch_2", 1900)))

    assert found(done) == [("contradiction", "ch_2", 1900)]
    assert tied(done) == {"usd": (1900, 3800, 1900, 0)}


@pytest.mark.parametrize("kind", ["release", "refund"])
def test_the_rest_of_a_partial_capture_was_never_taken(statement, run, begins, kind):
    effect = begins(amount=10000)
    seen = charged("ch_1", amount_minor=6000, effect_id=effect.pk)
    settle_effect(effect_id=effect.pk, seen=seen, actor=AGENT, now=NOW)

    done = run(statement(line("charge", "ch_1", 10000), line(kind, "re_1", 4000, charge_ref="ch_1")))

    assert found(done) == []
    assert tied(done) == {"usd": (6000, 6000, 0, 0)}


def test_a_charge_captured_in_steps_is_the_sum_of_its_lines(statement, run, pays):
    pays("ch_1", amount=3000)

    done = run(statement(line("charge", "ch_1", 1000), line("charge", "ch_1", 2000)))

    assert found(done) == []
    assert done.rows.get(reference="ch_1").line_count == 2


def test_several_partial_refunds_are_compared_one_by_one(statement, run, pays):
    effect = pays("ch_1", amount=3000)
    give(effect, "re_A", 1000)
    give(effect, "re_B", 1000)

    done = run(
        statement(
            line("charge", "ch_1", 3000),
            line("refund", "re_A", 1000, charge_ref="ch_1"),
            line("refund", "re_B", 1500, charge_ref="ch_1"),
        )
    )

    assert found(done) == [("amount_differs", "re_B", -500)]


def test_a_refund_that_came_back_is_found_whether_or_not_we_have_heard(statement, run, pays):
    heard, unheard = pays("ch_1"), pays("ch_2")
    give(heard, "re_1")
    give(heard, "re_1", outcome="failed", status="failed", occurred_at=NOW + timedelta(hours=3))
    give(unheard, "re_2")
    lines = [line("charge", "ch_1", 1900), line("charge", "ch_2", 1900)]
    for refund, charge in (("re_1", "ch_1"), ("re_2", "ch_2")):
        lines.append(line("refund", refund, 500, charge_ref=charge))
        lines.append(line("refund_failure", refund, 500, charge_ref=charge))

    done = run(statement(*lines))

    assert found(done) == [("refund_failed_later", "re_1", 500), ("refund_failed_later", "re_2", 500)]
    assert tied(done) == {"usd": (3300, 3800, 500, 0)}


def test_a_dispute_that_we_have_not_heard_of_is_open(statement, run, pays):
    effect = pays("ch_1")

    done = run(
        statement(
            line("charge", "ch_1", 1900),
            line("dispute", "dp_1", 1900, charge_ref="ch_1"),
            line("dispute", "dp_2", 700, charge_ref="ch_1"),
            line("dispute_reversal", "dp_2", 700, charge_ref="ch_1"),
        )
    )

    assert found(done) == [("dispute_open", "dp_1", 1900)]
    assert done.sightings.get().effect_id == effect.pk


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
