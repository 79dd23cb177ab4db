"""A run reads what was known at its cut-off, and a repeat of it the same, whoever commits late."""

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import timedelta
from threading import Event

import psycopg
import pytest
from django.db import connection, transaction

from config import roles
from jobs.models import JobRun, RunState
from ledger.models import ReconciliationRun
from ledger.reconciliation import running
from ledger.reconciliation.starting import Asked, repeat_reconciliation, start_reconciliation
from ledger.reconciliation.writers import open_writers
from ledger.services.refunds import take_refund
from tests.ledger.reconciliation.conftest import CUT_OFF, DAY, FINANCE, found, line
from tests.ledger.seen import AGENT, refunded

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = timedelta(hours=1)
IN_TIME, SOON = 30, 1


@contextmanager
def webhook_being_written(charge):
    """A refund from before the cut-off, written on a connection of its own; commits with the block."""
    is_written, may_commit = Event(), Event()

    def write():
        try:
            with transaction.atomic():
                seen = refunded("re_1", charge="ch_1")
                take_refund(effect_id=charge.pk, seen=seen, actor=AGENT, now=CUT_OFF - HOUR)
                is_written.set()
                assert may_commit.wait(IN_TIME)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            assert is_written.wait(IN_TIME), writing.exception()
            yield
        finally:
            may_commit.set()
        writing.result(IN_TIME)


def asked_for(realm, statement) -> ReconciliationRun:
    asked = Asked(realm=realm, processor="stripe", statement_ids=[statement.pk], cut_off=CUT_OFF)
    return start_reconciliation(asked=asked, actor=FINANCE, now=CUT_OFF)


def worked_on(run, *, clock=lambda: CUT_OFF) -> JobRun | None:
    try:
        return running.reconcile(run_id=run.job_id, clock=clock)
    finally:
        connection.close()


def repeated(run) -> ReconciliationRun:
    again = repeat_reconciliation(run_id=run.pk, actor=FINANCE, now=CUT_OFF + DAY)
    assert worked_on(again).state == RunState.SUCCEEDED
    again.refresh_from_db()
    return again


@pytest.fixture
def refund_line(statement, pays):
    """A charge that the ledger has, and the refund of it that only the statement shows."""
    charge = pays("ch_1")
    return charge, statement(line("charge", "ch_1", 1900), line("refund", "re_1", 1000, charge_ref="ch_1"))


def test_a_run_waits_for_what_was_being_written_when_it_was_asked_for(realm, refund_line):
    charge, document = refund_line
    with ThreadPoolExecutor(1) as pool:
        with webhook_being_written(charge):
            run = asked_for(realm, document)
            worker = pool.submit(worked_on, run)
            waits = wait([worker], SOON).not_done
            cursor = JobRun.objects.get(pk=run.job_id).cursor
        assert worker.result(IN_TIME).state == RunState.SUCCEEDED
    run.refresh_from_db()

    assert repeated(run).report == run.report
    assert found(run) == []
    assert (len(waits), cursor["phase"]) == (1, "writers")


def test_what_is_written_after_a_run_changes_no_repeat_whatever_moment_it_names(realm, refund_line):
    """Its moment was taken before it asked the processor, and the run was asked for meanwhile."""
    charge, document = refund_line
    run = asked_for(realm, document)
    with ThreadPoolExecutor(1) as pool, webhook_being_written(charge):
        # It was there before the run began: it is waited for, and still not read.
        worker = pool.submit(worked_on, run)
        wait([worker], SOON)
    assert worker.result(IN_TIME).state == RunState.SUCCEEDED
    run.refresh_from_db()

    assert repeated(run).report == run.report
    assert found(run) == [("missing_in_ledger", "re_1", -1000)]


def test_only_those_who_may_write_here_are_waited_for(refund_line, admin_url):
    """Another database of the same server may be busy for hours, and so may a reader of this one."""
    here = roles.with_database(admin_url, connection.settings_dict["NAME"])
    with (
        psycopg.connect(admin_url) as elsewhere,
        psycopg.connect(here) as reader,
        psycopg.connect(here) as writer,
    ):
        elsewhere.execute("SELECT pg_current_xact_id()")
        reader.execute("SELECT count(*) FROM ledger_tooleffect")
        before = open_writers()
        writing = writer.execute("SELECT pg_current_xact_id()::xid::text").fetchone()[0]

        assert before == []
        assert open_writers() == [writing]


def test_a_transaction_that_does_not_end_fails_the_run_and_says_which(realm, refund_line, monkeypatch):
    monkeypatch.setattr(running, "_LOOKS_FOR", 0.01)
    charge, document = refund_line
    moments = iter([CUT_OFF] * 9 + [CUT_OFF + running.WRITERS_MAY_TAKE + HOUR] * 99)
    run = asked_for(realm, document)
    with webhook_being_written(charge):
        worked_on(run, clock=lambda: next(moments))

    job = JobRun.objects.get(pk=run.job_id)
    assert (job.state, job.error_code) == (RunState.FAILED, "writers-do-not-end")
    assert job.error_place.startswith("transaction ")
