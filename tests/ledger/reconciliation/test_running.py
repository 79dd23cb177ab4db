"""A run is frozen and repeatable; a worker that dies in the middle loses nothing and doubles nothing."""

import hashlib
import json

import pytest
from django.db import DatabaseError, transaction

from conversations.errors import StoreError
from jobs.models import JobRun
from jobs.services.starting import OverlapError
from ledger.models import ReconciliationRun, RunRow, Sighting
from ledger.reconciliation import running
from ledger.reconciliation.starting import Asked, repeat_reconciliation, start_reconciliation
from ledger.services.disputes import take_dispute
from ledger.services.refunds import take_refund
from ledger.services.settling import settle_effect
from ledger.vocabulary import EffectState
from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import name_of
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, SINCE, UNTIL, found, line
from tests.ledger.seen import AGENT, charged, disputed, refunded

pytestmark = pytest.mark.django_db


def test_the_same_inputs_give_the_same_report_byte_for_byte(statement, run, pays, begins):
    pays("ch_1")
    open_then = begins()
    first = run(statement(line("charge", "ch_1", 1900), line("charge", "ch_9", 100)))
    seen = charged("ch_2", effect_id=open_then.pk)
    settle_effect(effect_id=open_then.pk, seen=seen, actor=AGENT, now=CUT_OFF + DAY)

    again = repeated(first)

    assert again.report == first.report
    assert bytes(again.report_sha256) == hashlib.sha256(first.report.encode()).digest()
    assert (again.repeats_id, bytes(first.report_sha256)) == (first.pk, bytes(again.report_sha256))


def test_a_refund_heard_of_after_a_run_changes_no_repeat_of_it(statement, run, pays):
    """Its webhook came late: it had settled long before the cut-off, and nobody knew."""
    charge = pays("ch_1")
    first = run(statement(line("charge", "ch_1", 1900), line("refund", "re_1", 1000, charge_ref="ch_1")))
    seen = refunded("re_1", charge="ch_1", occurred_at=NOW)
    take_refund(effect_id=charge.pk, seen=seen, actor=AGENT, now=CUT_OFF + DAY)

    again = repeated(first)

    assert found(first) == [("missing_in_ledger", "re_1", -1000)]
    assert again.report == first.report


def test_a_refund_that_failed_after_a_run_changes_no_repeat_of_it(statement, run, pays, give_back):
    charge = pays("ch_1")
    give_back(charge, 1000, "re_1", occurred_at=NOW)
    first = run(statement(line("charge", "ch_1", 1900), line("refund", "re_1", 1000, charge_ref="ch_1")))
    lost = refunded("re_1", outcome=EffectState.FAILED, status="failed", occurred_at=CUT_OFF - DAY)
    take_refund(effect_id=charge.pk, seen=lost, actor=AGENT, now=CUT_OFF + DAY)

    again = repeated(first)

    assert found(first) == []
    assert again.report == first.report
    assert found(run(cut_off=CUT_OFF + 2 * DAY)) == [("refund_failed_later", "re_1", 1000)]


def test_a_dispute_heard_of_after_a_run_changes_no_repeat_of_it(run, pays):
    charge = pays("ch_1")
    first = run()
    opened = disputed("needs_response", occurred_at=NOW)
    take_dispute(effect_id=charge.pk, seen=opened, now=CUT_OFF + DAY)
    second = run(cut_off=CUT_OFF + 2 * DAY)
    won = disputed("won", is_open=False, occurred_at=NOW + DAY)
    take_dispute(effect_id=charge.pk, seen=won, now=CUT_OFF + 3 * DAY)

    assert found(first) == []
    assert repeated(first).report == first.report
    assert found(second) == [("dispute_open", "dp_1", 1900)]
    assert repeated(second).report == second.report
    assert found(run(cut_off=CUT_OFF + 4 * DAY)) == []


def repeated(run: ReconciliationRun) -> ReconciliationRun:
    now = CUT_OFF + 9 * DAY
    again = repeat_reconciliation(run_id=run.pk, actor=FINANCE, now=now)
    running.reconcile(run_id=again.job_id, clock=lambda: now)
    again.refresh_from_db()
    return again


def test_the_report_says_what_it_was_made_from(statement, run):
    document = statement(line("charge", "ch_9", 100))

    report = json.loads(run(document).report)

    assert report["inputs"] == [
        {"format": "plain_csv", "sha256": bytes(document.sha256).hex(), "lines": 2, "skipped_lines": []}
    ]
    assert report["matched"] == {"not_compared": 1, "nothing": 1}
    assert report["rows"]["number"] == 2


def test_a_run_that_was_interrupted_ends_as_one_that_was_not(statement, run, realm, pays, monkeypatch):
    for number in range(6):
        pays(f"ch_{number}")
    document = statement(*[line("charge", f"ch_{number}", 1900) for number in range(2, 9)])
    whole = run(document)
    asked = Asked(realm=realm, processor="stripe", statement_ids=[document.pk], cut_off=CUT_OFF)
    broken = start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF + DAY)
    write, calls = running.write_judged, []

    def dies(*args):
        counts = write(*args)
        calls.append(counts)
        if len(calls) in (2, 4):
            raise KeyboardInterrupt
        return counts

    monkeypatch.setattr(running, "write_judged", dies)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            running.reconcile(run_id=broken.job_id, clock=lambda: CUT_OFF + DAY, lines_at_once=2)
        JobRun.objects.filter(pk=broken.job_id).update(state="queued", claim_token=None, lease_until=None)
    job = running.reconcile(run_id=broken.job_id, clock=lambda: CUT_OFF + DAY, lines_at_once=2)

    broken.refresh_from_db()
    assert (job.state, job.attempt) == ("succeeded", 3)
    assert broken.report == whole.report
    assert RunRow.objects.filter(run=broken).count() == RunRow.objects.filter(run=whole).count()


def test_a_message_that_comes_twice_runs_once(statement, run):
    done = run(statement(line("charge", "ch_9", 100)))

    assert running.reconcile(run_id=done.job_id) is None
    assert Sighting.objects.count() == 1


def test_a_second_run_of_one_realm_and_processor_waits_for_the_first(statement, realm):
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement().pk], cut_off=CUT_OFF)
    start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)

    with pytest.raises(OverlapError):
        start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)

    assert ReconciliationRun.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"since": SINCE - DAY}, "period-not-covered"),
        ({"until": UNTIL + DAY}, "period-not-covered"),
        ({"until": SINCE}, "period-ends-early"),
        ({"cut_off": NOW}, "cut-off-outside"),
        ({"cut_off": CUT_OFF + 9 * DAY}, "cut-off-outside"),
        ({"processor": "adyen"}, "statement-elsewhere"),
        ({"statement_ids": []}, "period-not-said"),
    ],
)
def test_inputs_that_cannot_be_compared_are_refused(statement, realm, given, rule):
    fields = {"realm": realm, "processor": "stripe", "statement_ids": [statement().pk], **given}

    with pytest.raises(StoreError) as refused:
        start_reconciliation(asked=Asked(**fields), actor=FINANCE, now=CUT_OFF)

    assert refused.value.rule == rule
    assert ReconciliationRun.objects.count() == 0


def test_a_gap_between_two_statements_is_refused(statement, realm):
    first = statement(period_end=NOW)
    second = statement(line("charge", "ch_1", 1), period_start=NOW + DAY, period_end=NOW + 2 * DAY)
    asked = Asked(realm=realm, processor="stripe", statement_ids=[first.pk, second.pk])

    with pytest.raises(StoreError) as refused:
        start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)

    assert refused.value.rule == "period-not-covered"


@pytest.mark.schema
@pytest.mark.parametrize("change", [{"cut_off": CUT_OFF + DAY}, {"report": "{}"}])
def test_a_finished_run_is_frozen(statement, run, change):
    done = run(statement())

    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        ReconciliationRun.objects.filter(pk=done.pk).update(**change)

    assert name_of(refused.value) == "ledger_run_is_frozen"


def test_without_statements_only_ledger_and_conversations_are_looked_at(run, pays):
    pays("ch_1")

    assert found(run()) == []
