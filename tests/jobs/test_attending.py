"""Work in the foreground: beats from beside it, its end with it, a stop, an interrupt, a killed process."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import connection, transaction

from access.models import Realm
from jobs.models import JobRun
from jobs.services.attending import Standing, attended, begin_here
from jobs.services.steering import free_abandoned, request_stop, resume
from jobs.services.working import LEASE
from tests.jobs.conftest import NOW

pytestmark = pytest.mark.django_db(transaction=True)

OFTEN = timedelta(milliseconds=20)
PATIENCE = 10


@pytest.fixture
def run(db) -> JobRun:
    return begin_here(
        kind="tests.import",
        requested_by=("importer", "root"),
        now=NOW,
        parameters={"file": "a.json"},
        unit="bytes",
    )


def seen(run, **columns) -> JobRun:
    """Wait until another connection sees the run so."""
    found: list[JobRun] = []

    def look():
        try:
            until = time.monotonic() + PATIENCE
            while not found and time.monotonic() < until:
                found.extend(JobRun.objects.filter(pk=run.pk, **columns))
                time.sleep(0.01)
        finally:
            connection.close()

    looker = threading.Thread(target=look)
    looker.start()
    looker.join()
    assert found, f"nobody saw the run with {columns}"
    return found[0]


def half() -> Standing:
    return Standing(done=5, total=10, counts={"rows": {"new": 5}}, report={"sha256": "ab"})


def whole() -> Standing:
    return Standing(done=10, total=10, counts={"rows": {"new": 10}}, report={"sha256": "ab", "odd": []})


def attend(run, clock, **given):
    return attended(run, **{"read": half, "conclude": whole, "clock": clock, "every": OFTEN, **given})


def test_it_is_claimed_from_the_start_and_no_worker_is_told(run, woken):
    run.refresh_from_db()

    assert (run.state, run.attempt, run.is_foreground) == ("running", 1, True)
    assert (run.started_at, run.heartbeat_at, run.lease_until) == (NOW, NOW, NOW + LEASE)
    assert woken == []


def test_two_of_a_kind_go_on_at_once(run):
    other = begin_here(kind=run.kind, requested_by=("importer", ""), now=NOW, parameters={})

    assert set(JobRun.objects.filter(state="running")) == {run, other}


def test_beats_are_seen_while_the_work_holds_a_transaction_which_they_are_no_part_of(run, clock):
    clock.turn(seconds=30)
    with attend(run, clock), transaction.atomic():
        Realm.objects.create(slug="rolled-back", name="x", created_at=NOW)
        moving = seen(run, done=5)
        transaction.set_rollback(True)

    assert (moving.state, moving.total, moving.counts) == ("running", 10, {"rows": {"new": 5}})
    assert (moving.heartbeat_at, moving.lease_until) == (clock.now, clock.now + LEASE)
    run.refresh_from_db()
    assert (run.state, run.done, run.report) == ("succeeded", 10, {"sha256": "ab", "odd": []})
    assert (run.finished_at, run.claim_token) == (clock.now, None)
    assert not Realm.objects.exists()


def test_a_stop_reaches_the_work_which_says_that_it_stopped(run, clock):
    with attend(run, clock) as attendance:
        assert attendance.may_go_on
        request_stop(run_id=run.pk, now=NOW)
        until = time.monotonic() + PATIENCE
        while attendance.may_go_on and time.monotonic() < until:
            time.sleep(0.01)
        assert not attendance.may_go_on
        attendance.stop()

    run.refresh_from_db()
    assert (run.state, run.done, run.error_code) == ("stopped", 10, "")


def test_what_is_raised_fails_the_run_by_its_first_line_and_is_raised_again(run, clock):
    with pytest.raises(ValueError, match="no"), attend(run, clock):
        raise ValueError("no such\x00 row\nDETAIL: Maja said hello")

    run.refresh_from_db()
    assert (run.state, run.error_code, run.error) == ("failed", "ValueError", "no such\ufffd row")
    assert run.counts == {"rows": {"new": 10}}


def test_an_interrupt_from_the_keyboard_stops_it(run, clock):
    with pytest.raises(KeyboardInterrupt), attend(run, clock):
        raise KeyboardInterrupt

    run.refresh_from_db()
    assert (run.state, run.error_code) == ("stopped", "")


def test_work_may_fail_its_run_without_raising(run, clock):
    with attend(run, clock) as attendance:
        attendance.fail(code="file-refused", error="taken for a CV", place="cv.json")

    run.refresh_from_db()
    assert (run.state, run.error_code, run.error, run.error_place) == (
        "failed",
        "file-refused",
        "taken for a CV",
        "cv.json",
    )


def test_a_run_whose_process_was_killed_is_freed_as_abandoned_and_goes_on_for_nobody(run, woken):
    counts = free_abandoned(now=NOW + LEASE + timedelta(seconds=1))
    resume(run_id=run.pk, now=NOW)

    run.refresh_from_db()
    assert counts["given_up"] == 1
    assert (run.state, run.error_code, run.claim_token) == ("failed", "abandoned", None)
    assert "killed" in run.error
    assert woken == []


def test_what_was_freed_meanwhile_is_not_written_to_and_the_work_is_told(run, clock):
    with attend(run, clock) as attendance:
        free_abandoned(now=NOW + LEASE + timedelta(seconds=1))
        until = time.monotonic() + PATIENCE
        while attendance.may_go_on and time.monotonic() < until:
            time.sleep(0.01)

    assert attendance.is_lost
    run.refresh_from_db()
    assert (run.state, run.error_code, run.report) == ("failed", "abandoned", None)


def test_a_beat_survives_the_loss_of_its_connection(run, clock):
    with attend(run, clock):
        seen(run, done=5)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid() AND usename = current_user"
            )
            assert cursor.fetchone()[0] >= 1
        clock.turn(minutes=1)
        seen(run, heartbeat_at=clock.now)

    run.refresh_from_db()
    assert run.state == "succeeded"


@pytest.mark.django_db(transaction=False)
def test_inside_a_transaction_there_is_no_beat_and_still_an_end(run, clock):
    with attend(run, clock) as attendance:
        time.sleep(5 * OFTEN.total_seconds())

    run.refresh_from_db()
    assert (run.state, run.done, attendance.is_lost) == ("succeeded", 10, False)
