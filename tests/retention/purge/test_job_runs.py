"""Runs of jobs go by their age."""

from datetime import timedelta

import pytest

from conversations.ids import mint_id
from jobs.models import JobRun
from retention.purging.job import PURGE
from tests.ledger.made_rows import make_run
from tests.retention.conftest import LATE, NOW

pytestmark = pytest.mark.django_db


class TestRunsOfJobs:
    """Beat starts thousands a day: those that have ended go by their age, failed ones later."""

    def over(self, *, at=NOW, kind="ledger.sweep", state="succeeded", **fields):
        failed = {"error_code": "x"} if state == "failed" else {}
        return JobRun.objects.create(
            id=mint_id(at),
            kind=kind,
            state=state,
            queued_at=at,
            requested_by_kind="job",
            **{"finished_at": at, **failed, **fields},
        )

    def left(self):
        return set(JobRun.objects.exclude(kind=PURGE).values_list("pk", flat=True))

    def test_they_go_after_thirty_days_but_for_the_last_of_their_kind(self, run_purge):
        self.over()
        self.over(state="stopped")
        last = self.over(at=NOW + timedelta(seconds=1))
        recent = self.over(at=LATE - timedelta(days=29), kind="ledger.pull")

        run = run_purge()

        assert self.left() == {last.pk, recent.pk}
        assert run.counts["job_runs"] == {"due": 2, "jobrun": 2, "gone": 2}

    def test_failed_ones_stay_six_times_as_long(self, run_purge):
        failed, last = self.over(state="failed"), self.over(at=NOW + timedelta(seconds=1))

        run_purge(now=NOW + timedelta(days=180))
        assert self.left() == {failed.pk, last.pk}
        run_purge(now=NOW + timedelta(days=181))

        assert self.left() == {last.pk}

    def test_what_has_not_ended_and_what_made_a_reconciliation_stay(self, run_purge, realm):
        waiting, made = self.over(state="queued", finished_at=None), self.over(kind="ledger.reconcile")
        later = NOW + timedelta(days=1)
        last = [self.over(at=later, kind=kind) for kind in ("ledger.sweep", "ledger.reconcile")]
        make_run(realm, job=made)

        run_purge()

        assert self.left() == {waiting.pk, made.pk, *(one.pk for one in last)}
