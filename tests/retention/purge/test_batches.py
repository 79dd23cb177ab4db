"""The purge works in batches: interrupted, two at once, too slow, or without effect."""

import pytest
from django.db import connection

from jobs.models import JobRun
from jobs.services.starting import start_job
from retention.purging import job
from retention.purging.job import PURGE, purge
from tests.conversations.writers import at_once
from tests.retention.conftest import LATE, remaining

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_a_batch_size_of_two_goes_through_all(make_talk):
    for _ in range(5):
        make_talk()
    run = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE)

    done = purge(run_id=run.pk, clock=lambda: LATE, batch_size=2)

    assert remaining() == set()
    assert done.counts["conversations"]["gone"] == 5


@pytest.mark.django_db(transaction=True)
def test_what_was_interrupted_goes_on_from_its_checkpoint(make_talk, monkeypatch):
    for _ in range(5):
        make_talk()
    run = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE)
    whole, left = job.conversations.delete_conversations, [1]

    def dies_in_its_second_batch(**given):
        done = whole(**given)
        if not left:
            raise SystemExit("killed")
        left.pop()
        return done

    monkeypatch.setattr(job.conversations, "delete_conversations", dies_in_its_second_batch)
    with pytest.raises(SystemExit):
        purge(run_id=run.pk, clock=lambda: LATE, batch_size=2)
    assert len(remaining()) == 3
    monkeypatch.undo()
    JobRun.objects.filter(pk=run.pk).update(state="queued", claim_token=None, lease_until=None)

    done = purge(run_id=run.pk, clock=lambda: LATE, batch_size=2)

    assert remaining() == set()
    assert done.counts["conversations"]["gone"] == 5


@pytest.mark.django_db(transaction=True)
def test_two_at_once_take_each_conversation_once(make_talk):
    for _ in range(12):
        make_talk()
    runs = [start_job(kind=PURGE, scope=scope, requested_by=("job", scope), now=LATE) for scope in "ab"]

    at_once(*(lambda run=run: purge(run_id=run.pk, clock=lambda: LATE, batch_size=2) for run in runs))

    assert remaining() == set()
    gone = [JobRun.objects.get(pk=run.pk).counts.get("conversations", {}).get("gone", 0) for run in runs]
    assert sum(gone) == 12


def test_a_run_that_takes_nothing_of_what_is_due_fails(make_talk, run_purge, monkeypatch):
    make_talk()
    monkeypatch.setattr("retention.purging.due.lock_conversations", lambda ids: [])

    run = run_purge()

    assert (run.state, run.error_code, run.error_place) == ("failed", "nothing-gone", "step conversations")


@pytest.mark.django_db(transaction=True)
def test_a_batch_that_is_too_slow_is_tried_with_fewer(make_talk, monkeypatch):
    """The server stops statements over many conversations, as it does with large rows."""
    for _ in range(10):
        make_talk()
    run = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE)
    whole, sizes = job.conversations.delete_conversations, []

    def slow(*, ids, **given):
        sizes.append(len(ids))
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 200")
            cursor.execute("SELECT pg_sleep(%s)", [0.0 if len(ids) <= 2 else 5.0])
            cursor.execute("SET LOCAL statement_timeout = 0")
        return whole(ids=ids, **given)

    monkeypatch.setattr(job.conversations, "delete_conversations", slow)
    done = purge(run_id=run.pk, clock=lambda: LATE, batch_size=8)

    assert (done.state, remaining()) == ("succeeded", set())
    assert sizes == [8, 2, 2, 2, 2, 2, 0, 0]
