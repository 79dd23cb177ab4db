"""A demo without a processor's key gets the sandbox; anything else is left alone."""

import os
from dataclasses import replace

import pytest

from config import demo_processor, ports
from jobs.models import JobRun


@pytest.fixture
def clean(monkeypatch):
    for name in ("STRIPE_API_KEY", "STRIPE_API_BASE", "STRIPE_WEBHOOK_SECRET"):
        # Set first, so that the test's own values are taken back at its end.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


@pytest.mark.parametrize(
    "environment",
    [
        {"COUNTERFOIL_DEMO": "0"},
        {"COUNTERFOIL_DEMO": "1", "STRIPE_API_KEY": "sk_test_of_somebody"},
        {},
    ],
)
def test_no_sandbox_where_none_is_wanted(clean, environment):
    clean.delenv("COUNTERFOIL_DEMO", raising=False)
    for name, value in environment.items():
        clean.setenv(name, value)

    assert demo_processor.arrange() is None
    assert os.environ.get("STRIPE_API_BASE") is None


def test_a_demo_is_told_where_its_sandbox_is(clean):
    clean.setenv("COUNTERFOIL_DEMO", "1")

    found = demo_processor.arrange()

    assert found is not None
    assert os.environ["STRIPE_API_KEY"] == found.api_key
    assert os.environ["STRIPE_API_BASE"] == f"http://127.0.0.1:{found.port}"
    assert os.environ["STRIPE_WEBHOOK_SECRET"] == found.webhook_secret


def test_two_demos_that_are_set_up_at_once_do_not_share_a_port(clean):
    clean.setenv("COUNTERFOIL_DEMO", "1")
    first = demo_processor.arrange()
    clean.delenv("STRIPE_API_KEY")

    second = demo_processor.arrange()

    assert first is not None
    assert second is not None
    assert first.port != second.port
    assert not ports.is_free(first.port)
    first.command(host="127.0.0.1", port=8000)
    assert ports.is_free(first.port)


@pytest.mark.parametrize(
    ("host", "web"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("::", "http://127.0.0.1:8000"),
        ("::1", "http://[::1]:8000"),
        ("localhost", "http://localhost:8000"),
    ],
)
def test_events_go_to_the_server_on_this_machine(clean, host, web):
    clean.setenv("COUNTERFOIL_DEMO", "1")
    found = demo_processor.arrange()

    command = found.command(host=host, port=8000)

    assert command[command.index("--webhook-url") + 1] == f"{web}/webhooks/stripe"


@pytest.mark.django_db
def test_a_new_demo_begins_with_a_reconciliation_and_an_old_one_keeps_its_books(clean, tmp_path):
    clean.setenv("COUNTERFOIL_DEMO", "1")
    found = replace(demo_processor.arrange(), books=tmp_path / "demo" / "books.sqlite3")

    found.write_books(is_new=True)
    found.books.write_bytes(b"kept")
    found.write_books(is_new=False)

    assert JobRun.objects.get().kind == "ledger.reconcile_daily"
    assert found.books.read_bytes() == b"kept"
