"""A worker's side: claim, batches with their checkpoints, dry runs, stops, failures, lost claims."""

import logging

import pytest

from access.models import Realm
from jobs.models import JobRun
from jobs.services.steering import free_abandoned, request_stop, resume
from jobs.services.working import LEASE, Batch, ClaimLostError, JobError, checkpoint, claim, work
from tests.jobs.conftest import NOW

pytestmark = pytest.mark.django_db(transaction=True)


def rows() -> list[str]:
    return sorted(Realm.objects.values_list("slug", flat=True))


def writing(upto: int, *, at=None):
    """A batch function that writes one row a batch, and calls `at` before the row it is given for."""

    def batch(run, now):
        number = (run.cursor or 0) + 1
        Realm.objects.create(slug=f"row-{number}", name="x", created_at=now)
        if at is not None:
            at(number, run)
        return Batch(
            cursor=number if number < upto else None, done=1, counts={"rows": {"written": 1}}, total=upto
        )

    return batch


def test_nothing_to_claim_is_nothing_to_do(start, clock):
    run = start()
    request_stop(run_id=run.pk, now=NOW)

    assert work(run_id=run.pk, batch=writing(1), clock=clock) is None
    assert rows() == []


def test_a_run_is_worked_on_to_its_end_with_counts_and_report(start, clock):
    run = start()

    def batch(run, now):
        done = writing(3)(run, now)
        return Batch(done.cursor, done.done, done.counts, done.total, report={"last": run.cursor})

    work(run_id=run.pk, batch=batch, clock=clock)

    run.refresh_from_db()
    assert (run.state, run.done, run.total, run.attempt, run.claim_token) == ("succeeded", 3, 3, 1, None)
    assert (run.counts, run.report) == ({"rows": {"written": 3}}, {"last": 2})
    assert (run.started_at, run.finished_at) == (NOW, NOW)
    assert rows() == ["row-1", "row-2", "row-3"]


def test_one_run_is_claimed_once(start):
    run = start()

    first, second = claim(run_id=run.pk, now=NOW), claim(run_id=run.pk, now=NOW)

    assert (first.attempt, first.lease_until, second) == (1, NOW + LEASE, None)


def test_a_message_delivered_twice_does_the_work_once(start, clock):
    run = start()

    work(run_id=run.pk, batch=writing(2), clock=clock)
    again = work(run_id=run.pk, batch=writing(2), clock=clock)

    assert (again, rows()) == (None, ["row-1", "row-2"])


def test_a_batch_that_fails_is_rolled_back_alone_and_its_place_is_said(start, clock):
    run = start()

    def fails_at_three(number, run):
        if number == 3:
            raise JobError("odd-row", "the third row is odd", place="row 3")

    work(run_id=run.pk, batch=writing(5, at=fails_at_three), clock=clock)

    run.refresh_from_db()
    assert (run.state, run.error_code, run.error, run.error_place) == (
        "failed",
        "odd-row",
        "the third row is odd",
        "row 3",
    )
    assert (run.cursor, run.done, rows()) == (2, 2, ["row-1", "row-2"])


def test_an_error_with_bytes_that_no_column_holds_is_still_written(start, clock, caplog):
    # The runner's processes cannot hand each other a captured line with half a character in it.
    caplog.set_level(logging.CRITICAL + 1)
    run = start()

    def fails(number, run):
        raise ValueError("nul \x00 and half \ud800")

    work(run_id=run.pk, batch=writing(1, at=fails), clock=clock)

    run.refresh_from_db()
    assert (run.state, run.error_code, run.error) == ("failed", "ValueError", "nul \ufffd and half ?")


def test_a_resumed_run_goes_on_from_its_checkpoint(start, clock):
    run = start()
    is_broken = [True]

    def fails_once(number, run):
        if number == 3 and is_broken.pop():
            raise ValueError("no")

    work(run_id=run.pk, batch=writing(4, at=fails_once), clock=clock)
    is_broken.append(False)
    resume(run_id=run.pk, now=NOW)
    work(run_id=run.pk, batch=writing(4), clock=clock)

    run.refresh_from_db()
    assert (run.state, run.counts, run.error) == ("succeeded", {"rows": {"written": 4}}, "")
    assert rows() == ["row-1", "row-2", "row-3", "row-4"]


def test_a_stop_is_heeded_after_the_batch(start, clock):
    run = start()

    def stop_at_two(number, run):
        if number == 2:
            JobRun.objects.filter(pk=run.pk).update(state="stopping")

    work(run_id=run.pk, batch=writing(5, at=stop_at_two), clock=clock)

    run.refresh_from_db()
    assert (run.state, run.cursor, rows()) == ("stopped", 2, ["row-1", "row-2"])


def test_a_stop_during_the_last_batch_finds_the_run_done(start, clock):
    run = start()

    def stop(number, run):
        JobRun.objects.filter(pk=run.pk).update(state="stopping")

    work(run_id=run.pk, batch=writing(1, at=stop), clock=clock)

    run.refresh_from_db()
    assert run.state == "succeeded"


def test_a_dry_run_counts_and_changes_nothing(start, clock):
    run = start(is_dry_run=True)

    work(run_id=run.pk, batch=writing(3), clock=clock)

    run.refresh_from_db()
    assert (run.state, run.counts, run.done, rows()) == ("succeeded", {"rows": {"written": 3}}, 3, [])


def test_a_worker_whose_claim_was_taken_rolls_its_batch_back(start, clock):
    run = start()

    def taken_at_two(number, run):
        if number == 2:
            JobRun.objects.filter(pk=run.pk).update(claim_token="0" * 32)

    ended = work(run_id=run.pk, batch=writing(5, at=taken_at_two), clock=clock)

    run.refresh_from_db()
    assert (ended, rows(), run.cursor, run.state) == (None, ["row-1"], 1, "running")


def test_a_worker_that_comes_back_after_its_run_was_freed_and_done_by_another_changes_nothing(start, clock):
    run = start()
    late = claim(run_id=run.pk, now=NOW)
    clock.turn(minutes=6)
    free_abandoned(now=clock())
    work(run_id=run.pk, batch=writing(2), clock=clock)

    with pytest.raises(ClaimLostError):
        checkpoint(late, Batch(cursor=None, done=9), now=clock())

    run.refresh_from_db()
    assert (run.state, run.done, run.attempt) == ("succeeded", 2, 2)
