"""Migrations of retention taken back on tables that are filled, and applied again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connections

from retention.archiving import archive_bytes
from retention.models import RetentionPolicy
from tests.conversations.schema.rows import fetch
from tests.retention.conftest import NOW, keep

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases="__all__")]

_RULE = "SELECT data_class FROM retention_retentionpolicy WHERE data_class = 'job_runs'"


@pytest.fixture
def back() -> Iterator[None]:
    """Whatever a test takes back is applied again after it, with what other apps build on it."""
    yield
    migrate()


def migrate(*to: str) -> None:
    call_command("migrate", *to, database="owner", verbosity=0, interactive=False)
    connections["owner"].close()


def test_rules_about_runs_of_jobs_go_back_with_their_class(back):
    keep(data_class="job_runs", action="purge", days=7, effective_from=NOW + timedelta(days=1))

    migrate("retention", "0009")
    assert fetch(_RULE) == []

    migrate("retention")
    assert RetentionPolicy.objects.get(data_class="job_runs").days == 30


def test_nobody_goes_behind_the_archive_while_something_is_in_it(back, make_talk):
    archive_bytes(conversation_id=make_talk().id, now=NOW)

    with pytest.raises(DatabaseError, match="bring their bytes back"):
        migrate("retention", "0006")

    assert fetch("SELECT count(*) FROM conversations_archive") == [(1,)]
