"""What PostgreSQL itself refuses of a run."""

import pytest
from django.db import IntegrityError, transaction

from conversations.ids import mint_id
from jobs.models import JobRun
from tests.jobs.conftest import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.schema]


def make(**given):
    values = {"kind": "tests.count", "requested_by_kind": "job", "state": "queued", "queued_at": NOW, **given}
    return JobRun.objects.create(id=mint_id(NOW), **values)


@pytest.mark.parametrize(
    ("constraint", "given"),
    [
        ("jobs_jobrun_one_active_per_scope", {}),
        ("jobs_jobrun_once_per_beat", {"scope": "b", "scheduled_for": NOW}),
        ("jobs_jobrun_running_is_claimed", {"scope": "x", "state": "running"}),
        ("jobs_jobrun_running_is_claimed", {"scope": "x", "claim_token": "0" * 32}),
        ("jobs_jobrun_end_has_a_time", {"scope": "x", "state": "succeeded"}),
        ("jobs_jobrun_end_has_a_time", {"scope": "x", "finished_at": NOW}),
        ("jobs_jobrun_failure_is_named", {"scope": "x", "state": "failed", "finished_at": NOW}),
        ("jobs_jobrun_foreground_is_not_queued", {"scope": "x", "is_foreground": True}),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused(constraint, given):
    make()
    make(scope="b", scheduled_for=NOW, state="succeeded", finished_at=NOW)

    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make(**given)

    assert JobRun.objects.count() == 2
