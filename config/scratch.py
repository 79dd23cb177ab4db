"""Databases for long proofs and measurements: beside the product's own, never in it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

from config import embedded, roles


@contextmanager
def database(name: str, *, servers: str, keep: bool) -> Iterator[str]:
    """Have Django set up on a migrated database of that name, on the servers of that name.

    A DATABASE_URL in the environment names the admin of another server to make it on.
    With `keep` it is there again next time, as it was left; give the admin's URL.
    Call it before anything reads the settings.
    """
    given = os.environ.pop("DATABASE_URL", None)
    with embedded.lease(servers) as leased:
        admin_url = given or leased.postgres_url()
        if not keep:
            drop(admin_url, name)
        roles.ensure(admin_url, database=name)
        urls = roles.urls(admin_url, database=name)
        os.environ.update({roles.VARIABLE_OF_ALIAS[alias]: url for alias, url in urls.items()})
        os.environ.setdefault("BROKER_URL", leased.broker_url)
        _set_up_django()
        try:
            yield admin_url
        finally:
            _close_connections()
            if not keep:
                drop(admin_url, name)


def drop(admin_url: str, name: str) -> None:
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _set_up_django() -> None:
    os.environ.setdefault("COUNTERFOIL_DEMO", "1")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    os.environ.setdefault("LOG_FORMAT", "console")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", database="owner", interactive=False, verbosity=0)


def _close_connections() -> None:
    from django.db import connections

    connections.close_all()
