import pytest
from celery import current_app

from config import ports
from config.health import roles_guard

pytestmark = pytest.mark.django_db


def test_a_healthy_product_says_so_without_a_log_in(client, broker_url):
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {"database": True, "broker": True, "append_only_guarded": True}
    assert "no-store" in answer["Cache-Control"]


def test_a_broker_that_does_not_answer_is_told(client, monkeypatch):
    nobody = f"redis://127.0.0.1:{ports.choose(preferred=None)}/0"
    monkeypatch.setattr(current_app.conf, "broker_url", nobody)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"database": True, "broker": False, "append_only_guarded": True}


def test_a_database_that_does_not_answer_is_told(client, broker_url, monkeypatch):
    monkeypatch.setattr("config.health.connection.cursor", refuse)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"database": False, "broker": True, "append_only_guarded": False}


def refuse():
    from django.db import OperationalError

    raise OperationalError("connection refused")


@pytest.mark.django_db(databases=["owner"])
def test_connected_as_the_owner_nothing_is_guarded():
    assert roles_guard(using="owner") is False
