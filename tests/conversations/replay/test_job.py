"""Verifying recorded bodies as a job: checkpoints, counts, and a failure that names the attempts."""

import pytest

from conversations.models import Generation
from conversations.replay import job
from jobs.models import JobRun
from jobs.services.starting import start_job
from jobs.services.working import work
from tests.conversations.conftest import NOW
from tests.conversations.recording.exchanges import body, user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_a_batch(monkeypatch):
    monkeypatch.setattr(job, "BATCH", 2)


def run(**given) -> JobRun:
    started = start_job(kind="conversations.verify_replay", requested_by=("staff", "1"), now=NOW, **given)
    work(run_id=started.pk, batch=job.verify_some)
    started.refresh_from_db()
    return started


def test_with_nothing_recorded_the_run_is_done(db):
    ended = run()

    assert (ended.state, ended.done) == ("succeeded", 0)


def test_every_body_is_verified_batch_by_batch(record):
    for number in range(5):
        record(body(user(str(number))))

    ended = run()

    assert (ended.state, ended.done) == ("succeeded", 5)
    assert ended.counts["bodies"]["different"] == 0


def test_bodies_that_came_back_different_fail_the_run_and_are_named(record):
    exchange = record(body(user("Hi")))
    Generation.objects.update(body_sha256=b"\0" * 32)

    ended = run()

    assert (ended.state, ended.error_code) == ("failed", "bodies-differ")
    assert str(exchange.conversation_id) in ended.error_place


def test_only_one_conversation_is_verified_where_it_is_named(record):
    first, _ = record(body(user("Hi"))), record(body(user("Bye")))

    ended = run(parameters={"conversation": str(first.conversation_id)})

    assert ended.done == Generation.objects.filter(conversation_id=first.conversation_id).count()
