"""Elsewhere, deletes that outgrew the statement timeout failed for ever, and silently."""

import os
from datetime import timedelta

import pytest
from django.db import connection

from conversations.models import RawBody
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass
from jobs.services.starting import start_job
from retention.purging import raw_bodies
from retention.purging.job import PURGE, purge
from tests.retention.conftest import NOW, keep

pytestmark = pytest.mark.django_db


class TestLargeRows:
    """Deletes that were too large for the server's statement timeout failed for ever, and silently."""

    @pytest.fixture
    def expired(self, make_talk):
        talk = make_talk()
        for _ in range(24):
            keep_raw_body(
                body=os.urandom(500_000), raw_class=RawClass.STREAM, conversation_id=talk.id, now=NOW
            )
        return talk

    @pytest.mark.django_db(transaction=True)
    def test_a_run_goes_through_in_batches_bounded_by_bytes(self, expired, monkeypatch):
        monkeypatch.setattr(raw_bodies, "BYTES_LIMIT", 2_000_000)
        keep(data_class="raw_bodies", action="purge", days=1)
        run = start_job(kind=PURGE, requested_by=("job", "test"), now=NOW)
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '2s'")
        sizes: list[int] = []
        whole = raw_bodies.delete_raw_bodies

        def counted(ids):
            sizes.append(len(ids))
            return whole(ids)

        monkeypatch.setattr(raw_bodies, "delete_raw_bodies", counted)

        done = purge(run_id=run.pk, clock=lambda: NOW + timedelta(days=2), load_percent=100)

        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
        assert done.state == "succeeded"
        assert not RawBody.objects.exists()
        assert [size for size in sizes if size] == [4] * 6
        assert done.counts["raw_bodies"]["rawbody"] == 24
