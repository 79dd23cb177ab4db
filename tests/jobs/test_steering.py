"""Stopping, resuming, and the sweeper that frees what a dead worker held."""

from datetime import timedelta

import pytest

from access.models import Realm
from jobs.models import JobRun
from jobs.services.starting import OverlapError
from jobs.services.steering import free_abandoned, request_stop, resume
from jobs.services.working import LEASE, Batch, checkpoint, claim, work
from tests.jobs.conftest import NOW

pytestmark = pytest.mark.django_db(transaction=True)
DEAD = NOW + LEASE + timedelta(seconds=1)
NOTHING = {"freed": 0, "given_up": 0, "woken": 0, "stopped": 0}


def test_nothing_abandoned_is_nothing_to_do(start):
    claim(run_id=start().pk, now=NOW)

    assert free_abandoned(now=NOW + timedelta(minutes=1)) == NOTHING


def test_a_run_whose_worker_died_after_a_batch_goes_on_behind_it(start, clock, woken):
    """A worker is killed after batch 3 of 10: nothing is applied twice."""
    run = start()
    died = claim(run_id=run.pk, now=NOW)
    for number in (1, 2, 3):
        Realm.objects.create(slug=f"row-{number:02}", name="x", created_at=NOW)
        checkpoint(died, Batch(cursor=number, done=1), now=NOW)

    counts = free_abandoned(now=DEAD)
    clock.now = DEAD

    def batch(run, now):
        number = run.cursor + 1
        Realm.objects.create(slug=f"row-{number:02}", name="x", created_at=now)
        return Batch(cursor=number if number < 10 else None, done=1)

    work(run_id=run.pk, batch=batch, clock=clock)

    run.refresh_from_db()
    assert counts == NOTHING | {"freed": 1}
    assert (run.state, run.done, run.attempt, Realm.objects.count()) == ("succeeded", 10, 2, 10)
    assert woken == [str(run.pk)] * 2


def test_a_run_that_always_kills_its_worker_is_set_aside_after_three_tries(start):
    run = start()
    outcomes = []
    for attempt in range(4):
        claim(run_id=run.pk, now=NOW + attempt * (LEASE * 2))
        outcomes.append(free_abandoned(now=NOW + attempt * (LEASE * 2) + LEASE * 1.5))

    run.refresh_from_db()
    assert [(counts["freed"], counts["given_up"]) for counts in outcomes] == [(1, 0), (1, 0), (0, 1), (0, 0)]
    assert (run.state, run.error_code, run.attempt) == ("failed", "keeps-dying", 3)
    assert "set aside" in run.error


def test_a_run_set_aside_may_be_tried_again_by_a_person(start):
    run = start()
    JobRun.objects.filter(pk=run.pk).update(
        state="failed", error_code="keeps-dying", attempt=3, finished_at=NOW
    )

    resume(run_id=run.pk, now=NOW)

    run.refresh_from_db()
    assert (run.state, run.attempt, run.error_code, run.finished_at) == ("queued", 0, "", None)


def test_a_queued_run_stops_at_once_and_a_running_one_when_its_worker_sees_it(start):
    queued, running = start(), start(scope="other")
    claim(run_id=running.pk, now=NOW)

    request_stop(run_id=queued.pk, now=NOW)
    request_stop(run_id=running.pk, now=NOW)

    states = dict(JobRun.objects.values_list("pk", "state"))
    assert states == {queued.pk: "stopped", running.pk: "stopping"}


def test_a_run_asked_to_stop_whose_worker_died_is_stopped(start):
    run = start()
    claim(run_id=run.pk, now=NOW)
    request_stop(run_id=run.pk, now=NOW)

    assert free_abandoned(now=DEAD) == NOTHING | {"stopped": 1}
    run.refresh_from_db()
    assert (run.state, run.claim_token) == ("stopped", None)


def test_a_run_that_has_ended_is_neither_stopped_nor_resumed(start, clock):
    run = start()
    work(run_id=run.pk, batch=lambda run, now: Batch(cursor=None), clock=clock)

    request_stop(run_id=run.pk, now=NOW)
    resume(run_id=run.pk, now=NOW)

    run.refresh_from_db()
    assert run.state == "succeeded"


def test_a_run_is_not_resumed_beside_an_active_one(start):
    stopped = start()
    request_stop(run_id=stopped.pk, now=NOW)
    active = start()

    with pytest.raises(OverlapError) as refused:
        resume(run_id=stopped.pk, now=NOW)

    stopped.refresh_from_db()
    assert (refused.value.run, stopped.state) == (active, "stopped")


def test_a_message_that_nobody_heeded_is_sent_again(start, woken):
    run = start()
    woken.clear()

    young = free_abandoned(now=NOW + timedelta(minutes=1))
    old = free_abandoned(now=NOW + timedelta(minutes=3))

    assert (young["woken"], old["woken"]) == (0, 1)
    assert woken == [str(run.pk)]
