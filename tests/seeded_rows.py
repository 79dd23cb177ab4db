"""Gives a database back the rows that migrations put there, after a test that commits.

Django would empty every table with `flush`, as the connection's own role. Here that role may
not TRUNCATE, and migrations seed rows (groups, policies) that the next test counts on. So
the owner empties the tables that the test wrote to and puts the seeded rows back from copies.
"""

import graphlib
from dataclasses import dataclass

import psycopg
from psycopg import sql

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

    @classmethod
    def read(cls, owner: psycopg.Connection) -> "Seed":
        tables = _tables(owner)
        copies = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
            [SCHEMA],
        )
        kept = [row[0] for row in copies]
        referrers = _referrers(owner)
        order = [table for table in _referenced_first(tables, referrers) if table in kept]
        return cls(tables, order, referrers, _digests(owner, order), _columns(owner))

    def restore(self, owner: psycopg.Connection) -> None:
        with owner.transaction():
            owner.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(sql.Literal(LOCK_TIMEOUT)))
            written = self._written(owner)
            if not written:
                return
            owner.execute(
                sql.SQL("TRUNCATE {}").format(
                    sql.SQL(", ").join(sql.Identifier("public", table) for table in sorted(written))
                )
            )
            for table in self.seeded:
                if table in written:
                    self._put_back(owner, table)

    def _written(self, owner: psycopg.Connection) -> set[str]:
        """Name the tables that differ from the seed, and those that must be emptied with them."""
        now = _digests(owner, self.seeded)
        differing = {table for table in self.seeded if now[table] != self.digests[table]}
        unseeded = [table for table in self.tables if table not in self.seeded]
        open_ends = [*differing, *_filled(owner, unseeded)]
        written: set[str] = set()
        while open_ends:
            table = open_ends.pop()
            if table not in written:
                written.add(table)
                open_ends.extend(self.referrers.get(table, set()))
        return written

    def _put_back(self, owner: psycopg.Connection, table: str) -> None:
        names = sql.SQL(", ").join(map(sql.Identifier, self.columns[table]))
        owner.execute(
            sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {}").format(
                sql.Identifier("public", table), names, names, sql.Identifier(SCHEMA, table)
            )
        )


def _tables(owner: psycopg.Connection) -> list[str]:
    rows = owner.execute(
        """
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        ORDER BY relname
        """
    )
    return [row[0] for row in rows]


def _referrers(owner: psycopg.Connection) -> dict[str, set[str]]:
    rows = owner.execute(
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


def _columns(owner: psycopg.Connection) -> dict[str, list[str]]:
    rows = owner.execute(
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


def _digests(owner: psycopg.Connection, tables: list[str]) -> dict[str, str]:
    if not tables:
        return {}
    selects = [
        sql.SQL(
            "SELECT {}, md5(coalesce(string_agg(t::text, chr(10) ORDER BY t::text), '')) FROM {} t"
        ).format(sql.Literal(table), sql.Identifier("public", table))
        for table in tables
    ]
    return dict(owner.execute(sql.SQL(" UNION ALL ").join(selects)).fetchall())


def _filled(owner: psycopg.Connection, tables: list[str]) -> list[str]:
    if not tables:
        return []
    selects = [
        sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(
            sql.Literal(table), sql.Identifier("public", table)
        )
        for table in tables
    ]
    return [row[0] for row in owner.execute(sql.SQL(" UNION ALL ").join(selects))]
