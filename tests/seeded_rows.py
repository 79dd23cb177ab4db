"""Gives a database back the rows that migrations put there, after a test that commits.

Django would empty every table with `flush`, as the connection's own role. Here that role may
not TRUNCATE, and migrations seed rows (groups, policies) that the next test counts on. So
the server's admin empties the tables that the test wrote to and puts the seeded rows back from copies.
"""

import graphlib
from dataclasses import dataclass

import psycopg
from psycopg import sql

from config import roles

SCHEMA = "tests_seed"
# A test that left a transaction open would make emptying wait for ever.
LOCK_TIMEOUT = "10s"


def keep(owner: psycopg.Connection) -> None:
    """Copy every table that has rows into a schema that only the owner sees."""
    owner.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(SCHEMA)))
    for table in _tables(owner):
        names = {"copy": sql.Identifier(SCHEMA, table), "table": sql.Identifier("public", table)}
        if owner.execute(sql.SQL("SELECT 1 FROM {table} LIMIT 1").format(**names)).fetchone():
            owner.execute(sql.SQL("CREATE TABLE {copy} AS TABLE {table}").format(**names))


@dataclass(frozen=True)
class Seed:
    """The seeded rows of one database, and what has to be known to restore them."""

    tables: list[str]
    seeded: list[str]
    referrers: dict[str, set[str]]
    digests: dict[str, str]
    columns: dict[str, list[str]]
    by_superuser: bool

    @classmethod
    def read(cls, admin: psycopg.Connection) -> "Seed":
        tables = _tables(admin)
        copies = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
            [SCHEMA],
        )
        kept = [row[0] for row in copies]
        referrers = _referrers(admin)
        order = [table for table in _referenced_first(tables, referrers) if table in kept]
        return cls(
            tables, order, referrers, _digests(admin, order), _columns(admin), roles.is_superuser(admin)
        )

    def restore(self, admin: psycopg.Connection) -> None:
        with admin.transaction():
            admin.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(LOCK_TIMEOUT)))
            written = self._written(admin)
            if not written:
                return
            if self.by_superuser:
                _delete_all(admin, written)
            else:
                written = self._with_referrers(written)
                _truncate(admin, written)
            for table in self.seeded:
                if table in written:
                    self._put_back(admin, table)

    def _written(self, admin: psycopg.Connection) -> set[str]:
        now = _digests(admin, self.seeded)
        unseeded = [table for table in self.tables if table not in self.seeded]
        return {*_filled(admin, unseeded), *(t for t in self.seeded if now[t] != self.digests[t])}

    def _with_referrers(self, tables: set[str]) -> set[str]:
        """Add the tables that must be truncated with these, because they refer to them."""
        found: set[str] = set()
        open_ends = list(tables)
        while open_ends:
            table = open_ends.pop()
            if table not in found:
                found.add(table)
                open_ends.extend(self.referrers.get(table, set()))
        return found

    def _put_back(self, admin: psycopg.Connection, table: str) -> None:
        names = sql.SQL(", ").join(map(sql.Identifier, self.columns[table]))
        admin.execute(
            sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {}").format(
                sql.Identifier("public", table), names, names, sql.Identifier(SCHEMA, table)
            )
        )


def _delete_all(admin: psycopg.Connection, tables: set[str]) -> None:
    """Delete every row with triggers and foreign keys asleep: a few rows go quicker so than by TRUNCATE."""
    admin.execute("SET LOCAL session_replication_role = replica")
    for table in tables:
        admin.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier("public", table)))


def _truncate(admin: psycopg.Connection, tables: set[str]) -> None:
    names = (sql.Identifier("public", table) for table in sorted(tables))
    admin.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(names)))


def _tables(admin: psycopg.Connection) -> list[str]:
    rows = admin.execute(
        """
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        ORDER BY relname
        """
    )
    return [row[0] for row in rows]


def _referrers(admin: psycopg.Connection) -> dict[str, set[str]]:
    rows = admin.execute(
        """
        SELECT referenced.relname, referrer.relname
        FROM pg_constraint
        JOIN pg_class referenced ON referenced.oid = confrelid
        JOIN pg_class referrer ON referrer.oid = conrelid
        WHERE contype = 'f' AND NOT referrer.relispartition
        """
    )
    found: dict[str, set[str]] = {}
    for referenced, referrer in rows:
        found.setdefault(referenced, set()).add(referrer)
    return found


def _referenced_first(tables: list[str], referrers: dict[str, set[str]]) -> list[str]:
    """Order the tables so that rows can be put back; circles are left to deferred constraints."""
    before: dict[str, set[str]] = {table: set() for table in tables}
    for referenced, names in referrers.items():
        for name in names - {referenced}:
            before.setdefault(name, set()).add(referenced)
    while True:
        try:
            return list(graphlib.TopologicalSorter(before).static_order())
        except graphlib.CycleError as error:
            circle = error.args[1]
            before[circle[1]].discard(circle[0])


def _columns(admin: psycopg.Connection) -> dict[str, list[str]]:
    rows = admin.execute(
        """
        SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
        ORDER BY relname, attnum
        """
    )
    found: dict[str, list[str]] = {}
    for table, column in rows:
        found.setdefault(table, []).append(column)
    return found


def _digests(admin: psycopg.Connection, tables: list[str]) -> dict[str, str]:
    if not tables:
        return {}
    selects = [
        sql.SQL(
            "SELECT {}, md5(coalesce(string_agg(t::text, chr(10) ORDER BY t::text), '')) FROM {} t"
        ).format(sql.Literal(table), sql.Identifier("public", table))
        for table in tables
    ]
    return dict(admin.execute(sql.SQL(" UNION ALL ").join(selects)).fetchall())


def _filled(admin: psycopg.Connection, tables: list[str]) -> list[str]:
    if not tables:
        return []
    selects = [
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
            sql.Literal(table), sql.Identifier("public", table)
        )
        for table in tables
    ]
    return [row[0] for row in admin.execute(sql.SQL(" UNION ALL ").join(selects))]
