"""The entries that Celery calls, by their names."""

import pytest
from celery import current_app
from django.conf import settings
from django.utils.module_loading import autodiscover_modules

from jobs.models import JobRun
from jobs.tasks import start, sweep

pytestmark = pytest.mark.django_db


def test_a_beat_starts_the_run_that_is_due(woken):
    start("tests.count", 60)
    start("tests.count", 60)

    run = JobRun.objects.get()
    assert (run.kind, run.requested_by_kind, run.requested_by_id) == ("tests.count", "job", "beat")


def test_the_sweeper_says_what_it_did():
    assert sweep() == {"freed": 0, "given_up": 0, "woken": 0, "stopped": 0}


def test_everything_in_the_schedule_is_a_task_that_a_worker_knows():
    autodiscover_modules("tasks")
    entries = settings.CELERY_BEAT_SCHEDULE.values()
    tasks = {entry["task"] for entry in entries}
    kinds = {entry["args"][0] for entry in entries if entry["task"] == "jobs.start"}

    assert (tasks | kinds) - set(current_app.tasks) == set()
    assert "jobs.sweep" in tasks


def test_a_job_says_its_interval_twice_and_the_same():
    entries = [entry for entry in settings.CELERY_BEAT_SCHEDULE.values() if entry["task"] == "jobs.start"]

    assert [entry["args"][1] for entry in entries] == [entry["schedule"].seconds for entry in entries]
