"""Waiting times are edited in the admin; alerts are only looked at."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ledger.models import Alert, ReconciliationPolicy
from ledger.reconciliation.policies import Waiting, waiting_of
from tests.conversations.conftest import NOW, realm

__all__ = ["realm"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    return client


def test_a_realms_waiting_times_are_set_and_count_from_the_next_run(administrator, realm):
    assert waiting_of(realm.pk) == Waiting()
    data = {"realm": realm.pk, "answer_hours": 2, "statement_hours": 48, "due_hours": 24}

    administrator.post("/admin/ledger/reconciliationpolicy/add/", data)

    assert ReconciliationPolicy.objects.get().statement_hours == 48
    assert waiting_of(realm.pk) == Waiting(answer_hours=2, statement_hours=48, due_hours=24)


def test_alerts_are_looked_at_and_nothing_else(administrator):
    alert = Alert.objects.create(
        id="0197a000-0000-7000-8000-000000000001",
        kind="failed",
        channel="email",
        about="failed:1",
        payload={},
        written_at=NOW,
        next_attempt_at=NOW,
        given_up_at=NOW,
        trouble="OSError: <b>no",
    )

    page = administrator.get("/admin/ledger/alert/")

    assert b"OSError: &lt;b&gt;no" in page.content
    assert administrator.post(f"/admin/ledger/alert/{alert.pk}/delete/", {"post": "yes"}).status_code == 403
    assert administrator.get("/admin/ledger/alert/add/").status_code == 403
