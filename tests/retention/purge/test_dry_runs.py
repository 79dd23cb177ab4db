"""A dry run whose batches are full: each comes back when it is rolled back, and the run ends all the same."""

import itertools
from datetime import timedelta

import pytest

from access.actors import Actor, ActorKind
from access.models import AccessEntry
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from conversations.ids import mint_id
from conversations.models import RawBody
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass
from jobs.models import JobRun
from jobs.services.starting import start_job
from retention.models import ToolRollup
from retention.purging import raw_bodies
from retention.purging.job import PURGE, purge
from tests.retention.conftest import LATE, NOW, keep

pytestmark = pytest.mark.django_db

OLD = NOW - timedelta(days=800)


@pytest.fixture
def dry_run():
    """Run the purge dry in batches of two; it must not ask for the time for ever."""

    def run():
        queued = start_job(kind=PURGE, requested_by=("job", "test"), now=LATE, is_dry_run=True)
        asked = itertools.count()

        def clock():
            if next(asked) > 200:
                raise SystemExit("the run does not come to its end")
            return LATE

        done = purge(run_id=queued.pk, clock=clock, batch_size=2, load_percent=100)
        assert done is not None
        assert done.state == "succeeded", done.error
        return done.counts

    return run


def test_lines_of_the_access_log_are_counted_once(dry_run):
    for _ in range(5):
        log_access(
            actor=Actor(ActorKind.JOB), action=AccessAction.CHANGE, target_kind=TargetKind.PAGE, now=OLD
        )

    assert dry_run()["access_log"] == {"due": 5, "accessentry": 5, "gone": 5}
    assert AccessEntry.objects.count() == 5


def test_runs_of_jobs_are_counted_once(dry_run):
    for _ in range(6):
        JobRun.objects.create(
            id=mint_id(OLD),
            kind="ledger.sweep",
            state="succeeded",
            queued_at=OLD,
            finished_at=OLD,
            requested_by_kind="job",
        )

    assert dry_run()["job_runs"] == {"due": 5, "jobrun": 5, "gone": 5}
    assert JobRun.objects.filter(kind="ledger.sweep").count() == 6


def test_sealed_totals_are_counted_once(dry_run, account):
    keep(data_class="rollups", action="purge", days=30)
    for _ in range(5):
        ToolRollup.objects.create(
            day=OLD.date(),
            realm=account.realm,
            account_id=account.pk,
            tool="find_flights",
            number=1,
            failed=0,
            unanswered=0,
            sealed_at=OLD,
        )

    assert dry_run()["rollups"] == {"due": 5, "toolrollup": 5, "gone": 5}
    assert ToolRollup.objects.count() == 5


def test_raw_bodies_past_the_bytes_of_a_batch_are_counted_once(dry_run, make_talk, monkeypatch):
    monkeypatch.setattr(raw_bodies, "BYTES_LIMIT", 10)
    keep(data_class="raw_bodies", action="purge", days=1)
    talk = make_talk()
    for number in range(3):
        keep_raw_body(body=b"%d" % number * 20, raw_class=RawClass.STREAM, conversation_id=talk.id, now=NOW)

    assert dry_run()["raw_bodies"] == {"due": 1, "rawbody": 3, "gone": 3}
    assert RawBody.objects.count() == 3
