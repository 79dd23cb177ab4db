"""Asking for a run: once per beat, one active per kind and scope, a worker woken after the commit."""

from datetime import timedelta

import pytest
from celery import current_app
from django.db import transaction

from jobs.models import JobRun
from jobs.services.starting import OverlapError, beat_of, start_scheduled
from jobs.services.steering import request_stop
from tests.jobs.conftest import NOW

MINUTE = timedelta(minutes=1)


def scheduled(now=NOW):
    return start_scheduled(kind="tests.count", every=MINUTE, now=now, parameters={})


def test_a_run_is_kept_with_who_asked_and_why(start):
    run = start(parameters={"account": "x"}, total=10, unit="effects", is_dry_run=True)

    run = JobRun.objects.get(pk=run.pk)
    assert (run.state, run.attempt, run.requested_by_kind, run.requested_by_id) == ("queued", 0, "staff", "7")
    assert (run.parameters, run.reason, run.total, run.is_dry_run) == ({"account": "x"}, "asked", 10, True)


def test_a_second_run_of_one_kind_and_scope_is_refused_with_the_active_one(start):
    first = start()

    with pytest.raises(OverlapError) as refused:
        start()

    assert refused.value.run == first
    assert JobRun.objects.count() == 1


def test_another_scope_or_kind_runs_beside_it_and_the_same_one_after_it(start):
    first = start()
    start(scope="account 1")
    start(kind="tests.other")

    request_stop(run_id=first.pk, now=NOW)
    start()

    assert JobRun.objects.count() == 4


def test_two_beats_of_one_interval_are_one_run(db):
    first = scheduled(NOW)
    request_stop(run_id=first.pk, now=NOW)

    assert scheduled(NOW + timedelta(seconds=59)) is None
    assert scheduled(NOW + MINUTE).scheduled_for == NOW + MINUTE
    assert JobRun.objects.count() == 2


def test_a_beat_finds_a_run_that_still_works_and_leaves_it(start):
    start()

    assert scheduled() is None
    assert JobRun.objects.count() == 1


@pytest.mark.parametrize("seconds", [0, 1, 59])
def test_the_moments_of_an_interval_have_one_beat(seconds):
    assert beat_of(now=NOW + timedelta(seconds=seconds), every=MINUTE) == NOW


def test_a_worker_is_woken_after_the_commit_and_not_before(start, woken, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        run = start()
        assert woken == []

    assert woken == [str(run.pk)]


@pytest.mark.django_db(transaction=True)
def test_a_run_that_is_rolled_back_wakes_nobody(start, woken):
    with transaction.atomic():
        start()
        transaction.set_rollback(True)

    assert (woken, JobRun.objects.count()) == ([], 0)


@pytest.mark.django_db(transaction=True)
def test_a_run_stays_queued_where_the_broker_is_away(start, monkeypatch):
    monkeypatch.setattr(current_app.conf, "broker_url", "redis://127.0.0.1:1/0")

    run = start()

    assert JobRun.objects.get(pk=run.pk).state == "queued"
