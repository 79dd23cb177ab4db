"""Databases and connections of the test run. What an app's tests share stands in its own conftest."""

from collections.abc import Iterator

import psycopg
import pytest
from celery import current_app
from django.db import connections
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

from config import roles
from tests import databases, seeded_rows


@pytest.fixture(scope="session")
def admin_url() -> Iterator[str]:
    """The server's admin: for tests that make databases or look at roles."""
    with databases.admin_server() as url:
        yield url


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest,
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    admin_url: str,
) -> Iterator[None]:
    """Give this process a clone of the migrated template, in place of pytest-django's own database."""
    worker = getattr(request.config, "workerinput", {}).get("workerid", "main")
    with (
        django_db_blocker.unblock(),
        databases.cloned_database(admin_url, worker=worker) as name,
        psycopg.connect(roles.with_database(admin_url, name), autocommit=True) as admin,
        pytest.MonkeyPatch.context() as patch,
    ):
        seed = seeded_rows.Seed.read(admin)
        # Django's way of emptying after a test that commits: all three aliases are one database.
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: seed.restore(admin))
        with django_db_blocker.block():
            yield


@pytest.fixture(scope="session")
def broker_url() -> Iterator[str]:
    """A broker that answers, for tests that send to it or ask after it; Celery is pointed at it."""
    with databases.broker() as url, pytest.MonkeyPatch.context() as patch:
        patch.setattr(current_app.conf, "broker_url", url)
        yield url


@pytest.fixture
def reader_on_default() -> Iterator[None]:
    """Let `reader` see what a test has not committed: it becomes the default connection.

    For pages that read as counterfoil_read. What that role may see is tested with
    `transaction=True` and `databases=["default", "reader"]` instead.
    """
    reader = connections["reader"]
    connections["reader"] = connections["default"]
    yield
    connections["reader"] = reader
