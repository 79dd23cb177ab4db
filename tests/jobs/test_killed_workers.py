"""Every kind of job is among those whose workers are killed: `script/evidence kill`."""

from importlib import import_module
from importlib.util import find_spec

from celery import current_app
from django.apps import apps
from django.conf import settings

from console.job_pages.kinds import KINDS
from evidence.kills.comparing import PULLED
from evidence.kills.kinds import STORIES, WITHOUT


def scheduled() -> set[str]:
    """What beat starts: a run of a kind, or a task that keeps no runs."""
    entries = settings.CELERY_BEAT_SCHEDULE.values()
    return {entry["args"][0] if entry["task"] == "jobs.start" else entry["task"] for entry in entries}


def tasks() -> set[str]:
    """What workers can be woken for, of our own apps."""
    labels = set()
    for app in apps.get_app_configs():
        if find_spec(f"{app.name}.tasks"):
            import_module(f"{app.name}.tasks")
            labels.add(app.label)
    return {name for name in current_app.tasks if name.partition(".")[0] in labels}


def test_every_kind_on_the_schedule_has_a_story():
    assert scheduled() - STORIES.keys() == set()


def test_every_other_kind_and_task_has_a_story_or_a_reason():
    every = {kind.name for kind in KINDS} | tasks()

    assert {"ledger.reconcile", "retention.erase", "ledger.work_event"} < every
    assert every - STORIES.keys() - WITHOUT.keys() == set()


def test_no_story_and_no_reason_is_about_a_kind_that_is_gone():
    every = {kind.name for kind in KINDS} | tasks() | {PULLED}

    assert STORIES.keys() | WITHOUT.keys() == every
    assert STORIES.keys() & WITHOUT.keys() == set()


def test_what_has_no_story_is_no_run_of_a_worker():
    """A reason stands only for what leaves no claimed run behind: a wake-up, a command in the foreground."""
    runs = {kind.name for kind in KINDS} & tasks() | scheduled()

    assert runs & WITHOUT.keys() == set()
    assert all(len(reason) > len(name) for name, reason in WITHOUT.items())
