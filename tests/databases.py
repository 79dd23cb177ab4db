"""The databases that tests run on: one template, migrated once, and a clone of it for each process.

Tests connect as the product does: as `counterfoil_app`, which owns nothing. Everything that
needs more (making, cloning, emptying) is done here, as the server's admin or as the owner.
"""

import hashlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
import psycopg
from django.apps import apps
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from config import embedded, env, roles
from tests import seeded_rows

MAKING_A_TEMPLATE = 0x00C0_FF02
STALE_TEMPLATE_HOURS = 2
HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]


@contextmanager
def admin_server() -> Iterator[str]:
    """Give the URL of an admin on the server that was named, or on the embedded one."""
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield given
        return
    with embedded.lease("test") as servers:
        yield servers.postgres_url()


@contextmanager
def broker() -> Iterator[str]:
    """Give the URL of the broker that was named, or of the embedded one."""
    given = os.environ.get("TEST_BROKER_URL")
    if given:
        yield given
        return
    with embedded.lease("test") as servers:
        yield servers.broker_url


@contextmanager
def cloned_database(admin_url: str, *, worker: str) -> Iterator[str]:
    """Have a database of this process's own, with every alias connected to it; drop it at the end."""
    name = f"counterfoil_test_{HOST}_{os.getpid()}_{worker}"
    with psycopg.connect(admin_url, autocommit=True) as admin:
        drop_leftovers(admin)
        admin.execute("SELECT pg_advisory_lock(%s)", [MAKING_A_TEMPLATE])
        template = ensure_template(admin, admin_url)
        admin.execute(
            sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(roles.OWNER), sql.Identifier(template)
            )
        )
    # A clone has the template's tables and their privileges, but not those of the database itself.
    with psycopg.connect(roles.with_database(admin_url, name), autocommit=True) as clone:
        roles.grant(clone, database=name)
    connect_to(name, admin_url)
    yield name
    connections.close_all()
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def ensure_template(admin: psycopg.Connection, admin_url: str) -> str:
    """Return the template of today's migrations, migrated as the owner if it is missing."""
    name = f"counterfoil_template_{migrations_digest()}"
    found = admin.execute("SELECT datallowconn FROM pg_database WHERE datname = %s", [name]).fetchone()
    if found and not found[0]:
        return name
    if found:
        # Whoever made it did not come to the end.
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
    roles.ensure(admin_url, database=name)
    connect_to(name, admin_url)
    try:
        call_command("migrate", database="owner", verbosity=0, interactive=False)
        with psycopg.connect(roles.urls(admin_url, database=name)["owner"]) as owner:
            seeded_rows.keep(owner)
            keep_plans_alike(owner)
    finally:
        connections.close_all()
    # Closed to everybody, it can be cloned at any moment; and it is the mark of a whole template.
    admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
    drop_stale_templates(admin, but=name)
    return name


def keep_plans_alike(owner: psycopg.Connection) -> None:
    """Leave tables unanalysed: what the planner thinks of them must not hang on which tests ran before.

    The autovacuum would look at tables of a few rows at any moment, and every way through them then
    looks as good as a key.
    """
    tables = owner.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    for (table,) in tables.fetchall():
        owner.execute(sql.SQL("ALTER TABLE {} SET (autovacuum_enabled = off)").format(sql.Identifier(table)))
    owner.commit()


def migrations_digest() -> str:
    """Return a digest of all that makes the template: migrations with their SQL files, and the roles."""
    digest = hashlib.sha256(django.get_version().encode())
    for application in sorted(apps.get_app_configs(), key=lambda config: config.label):
        folder = Path(application.path) / "migrations"
        files = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        for path in sorted(files):
            digest.update(f"{application.label}/{path.relative_to(folder)}\0".encode() + path.read_bytes())
    for module in (roles.__file__, seeded_rows.__file__, __file__):
        digest.update(Path(module).read_bytes())
    return digest.hexdigest()[:12]


def connect_to(name: str, admin_url: str) -> None:
    """Point the three aliases at the database, each as its role."""
    connections.close_all()
    for alias, url in roles.urls(admin_url, database=name).items():
        # In place: connections of threads to come are made from the same dictionary.
        connections.settings[alias].update(env.database(url))


def drop_leftovers(admin: psycopg.Connection) -> None:
    """Drop what processes of this machine left behind when they were killed."""
    rows = admin.execute("SELECT datname FROM pg_database WHERE starts_with(datname, 'counterfoil_test_')")
    for (name,) in rows.fetchall():
        named = re.fullmatch(rf"counterfoil_test_{HOST}_(\d+)_\w+", name)
        if named and not is_alive(int(named[1])):
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def drop_stale_templates(admin: psycopg.Connection, *, but: str) -> None:
    """Drop templates of other migrations that nobody has made for a while.

    Somebody may be at work on another branch, so young ones stay. The time is kept
    in a comment: PostgreSQL does not say when a database was made.
    """
    admin.execute(
        sql.SQL("COMMENT ON DATABASE {} IS {}").format(
            sql.Identifier(but), sql.Literal(admin.execute("SELECT now()::text").fetchall()[0][0])
        )
    )
    stale = admin.execute(
        """
        SELECT datname FROM pg_database
        WHERE starts_with(datname, 'counterfoil_template_') AND datname <> %s AND NOT datallowconn
        AND coalesce(shobj_description(oid, 'pg_database')::timestamptz, '-infinity') < now() - %s::interval
        """,
        [but, f"{STALE_TEMPLATE_HOURS} hours"],
    )
    for (name,) in stale.fetchall():
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
