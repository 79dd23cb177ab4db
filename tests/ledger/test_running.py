"""Jobs that ask a processor item by item: counts, patience, stops."""

from datetime import UTC, datetime, timedelta

import pytest

from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from jobs.services.steering import free_abandoned, request_stop
from ledger.services.running import PATIENCE, work_items

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> JobRun:
    return start_job(kind="tests.ask", requested_by=("job", "test"), now=NOW)


def work(run, items, act):
    try:
        work_items(run_id=run.pk, items=lambda run: items, read=str, act=act, step="asked", clock=lambda: NOW)
    finally:
        run.refresh_from_db()
    return run


class WorkerDiedError(BaseException):
    """As a kill does, it passes by everything that would clear up."""


def test_what_a_dead_worker_had_in_hand_comes_first_and_counts_once(run):
    acted = []

    def dies_behind_b(item, now):
        acted.append(item)
        if acted == ["a", "b"]:
            raise WorkerDiedError
        return "settled"

    with pytest.raises(WorkerDiedError):
        work(run, ["a", "b", "c"], dies_behind_b)
    free_abandoned(now=NOW + timedelta(hours=1))
    # It was done with b, but for the checkpoint: b is no longer due.
    work(run, ["c"], dies_behind_b)

    assert acted == ["a", "b", "b", "c"]
    assert (run.state, run.done, run.counts) == (RunState.SUCCEEDED, 3, {"asked": {"settled": 3}})


def test_a_worker_whose_claim_is_gone_acts_on_nothing_more(run):
    acted = []

    def loses_its_claim(item, now):
        acted.append(item)
        free_abandoned(now=NOW + timedelta(hours=1))
        return "settled"

    work(run, ["a", "b"], loses_its_claim)

    assert (acted, run.state, run.done) == (["a"], RunState.QUEUED, 0)


def test_a_failure_names_what_was_in_hand(run):
    def fails(item, now):
        raise ValueError("no")

    work(run, ["a", "b"], fails)

    assert (run.state, run.error_place) == (RunState.FAILED, "asked a")


def test_every_item_is_acted_on_and_counted_by_what_came_of_it(run):
    work(run, ["a", "b", "c"], lambda item, now: "settled" if item == "b" else "unknown")

    assert (run.state, run.done) == (RunState.SUCCEEDED, 3)
    assert run.counts == {"asked": {"unknown": 2, "settled": 1}}


def test_a_stop_is_heeded_between_items_and_the_run_is_stopped(run):
    def act(item, now):
        if item == "b":
            request_stop(run_id=run.pk, now=now)
        return "settled"

    work(run, ["a", "b", "c"], act)

    assert (run.state, run.done, run.finished_at) == (RunState.STOPPED, 2, NOW)


def test_a_processor_that_does_not_answer_is_left_alone(run):
    work(run, range(PATIENCE + 3), lambda item, now: "unreachable")

    assert run.counts == {"asked": {"unreachable": PATIENCE}}
