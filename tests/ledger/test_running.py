"""Jobs that ask a processor item by item: counts, patience, stops."""

from datetime import UTC, datetime

import pytest

from jobs.models import JobRun, RunState
from jobs.services.starting import start_job
from jobs.services.steering import request_stop
from ledger.services.running import PATIENCE, work_items

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> JobRun:
    return start_job(kind="tests.ask", requested_by=("job", "test"), now=NOW)


def work(run, items, act):
    work_items(run_id=run.pk, items=items, act=act, step="asked", clock=lambda: NOW)
    run.refresh_from_db()
    return run


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
