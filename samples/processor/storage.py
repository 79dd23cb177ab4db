"""The processor's books: one SQLite file, one connection, one writer at a time.

Objects are kept as the JSON that the API answers with. What the API never shows (how a test card
behaves, the secret of an endpoint) stands beside it in `hidden`.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

from samples.processor.errors import Body, no_such

SCHEMA = Path(__file__).with_name("schema.sql").read_text()
SEARCHABLE = frozenset(("charge", "customer", "payment_intent"))
TABLES = re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", SCHEMA)
_BOUNDS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


class Store:
    def __init__(self, path: Path) -> None:
        self._lock = RLock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.row_factory = sqlite3.Row
        # A killed process loses nothing that was committed; a power cut is not our subject.
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.executescript(SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. Inside another one it is a savepoint."""
        with self._lock:
            nested = self._connection.in_transaction
            self._connection.execute("SAVEPOINT inner_part" if nested else "BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if nested:
                    self._connection.execute("ROLLBACK TO inner_part")
                    self._connection.execute("RELEASE inner_part")
                else:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("RELEASE inner_part" if nested else "COMMIT")

    def run(self, sql: str, *values: Any) -> int:
        """Execute one statement; return the number of rows it changed."""
        with self._lock:
            return self._connection.execute(sql, values).rowcount

    def rows(self, sql: str, *values: Any) -> list[Body]:
        with self._lock:
            return [dict(row) for row in self._connection.execute(sql, values)]

    def row(self, sql: str, *values: Any) -> Body | None:
        found = self.rows(sql, *values)
        return found[0] if found else None

    def clear(self) -> None:
        with self.transaction():
            for table in TABLES:
                self.run(" ".join(["DELETE FROM", table]))

    def setting(self, name: str, default: Any) -> Any:
        row = self.row("SELECT value FROM setting WHERE name = ?", name)
        return default if row is None else json.loads(row["value"])

    def set_setting(self, name: str, value: Any) -> None:
        self.run(
            "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            json.dumps(value),
        )

    def insert(self, body: Body, *, now: int, hidden: Body | None = None) -> Body:
        self.run(
            "INSERT INTO object (kind, id, created, body, hidden) VALUES (?, ?, ?, ?, ?)",
            body["object"],
            body["id"],
            body.get("created", now),
            json.dumps(body),
            json.dumps(hidden or {}),
        )
        self._copy_for_search(body, now=now)
        return body

    def save(self, body: Body, *, now: int) -> Body:
        self.run("UPDATE object SET body = ? WHERE id = ?", json.dumps(body), body["id"])
        self._copy_for_search(body, now=now)
        return body

    def delete(self, object_id: str) -> None:
        self.run("DELETE FROM object WHERE id = ?", object_id)
        self.run("DELETE FROM search_copy WHERE id = ?", object_id)

    def find(self, kind: str, object_id: str) -> Body | None:
        row = self.row("SELECT body FROM object WHERE kind = ? AND id = ?", kind, object_id)
        return None if row is None else json.loads(row["body"])

    def get(self, kind: str, object_id: str, *, param: str | None = None) -> Body:
        """The object, or the refusal that Stripe gives: 404 for the address, 400 for a parameter."""
        body = self.find(kind, object_id)
        if body is None:
            raise no_such(kind, object_id, param=param or "id", status=400 if param else 404)
        return body

    def any_kind(self, object_id: str) -> Body | None:
        row = self.row("SELECT body FROM object WHERE id = ?", object_id)
        return None if row is None else json.loads(row["body"])

    def hidden(self, object_id: str) -> Body:
        row = self.row("SELECT hidden FROM object WHERE id = ?", object_id)
        return {} if row is None else json.loads(row["hidden"])

    def all(self, kind: str, **equal: Any) -> list[Body]:
        """Every object of the kind, oldest first."""
        where, values = _equal(equal)
        sql = " ".join(["SELECT body FROM object WHERE kind = ?", *where, "ORDER BY seq"])
        return [json.loads(row["body"]) for row in self.rows(sql, kind, *values)]

    def page(
        self,
        kind: str,
        *,
        equal: Mapping[str, Any],
        among: Mapping[str, list[str]],
        created: Mapping[str, int],
        beyond: tuple[str, str] | None,
        limit: int,
    ) -> list[Body]:
        """Up to `limit` objects, newest first; `beyond` is a comparison (`<`, `>`) and an object's id.

        With `>` they come oldest first, nearest to that object.
        """
        where, values = _equal(equal)
        for name, choices in among.items():
            marks = ", ".join("?" * len(choices))
            where.append(f"AND json_extract(body, '$.{name}') IN ({marks})")
            values += choices
        for bound, moment in created.items():
            where.append(f"AND created {_BOUNDS[bound]} ?")
            values.append(moment)
        order = "ORDER BY created DESC, seq DESC"
        if beyond is not None:
            where += ["AND (created, seq)", beyond[0], "(SELECT created, seq FROM object WHERE id = ?)"]
            values.append(beyond[1])
            if beyond[0] == ">":
                order = "ORDER BY created, seq"
        sql = " ".join(["SELECT body FROM object WHERE kind = ?", *where, order, "LIMIT ?"])
        return [json.loads(row["body"]) for row in self.rows(sql, kind, *values, limit)]

    def _copy_for_search(self, body: Body, *, now: int) -> None:
        """Search reads these copies once they are old enough: it is not read-after-write."""
        if body["object"] in SEARCHABLE:
            self.run(
                "INSERT INTO search_copy (id, kind, written_at, body) VALUES (?, ?, ?, ?)",
                body["id"],
                body["object"],
                now,
                json.dumps(body),
            )


def _equal(equal: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    """Conditions and their values. Names come from our own endpoints, never from a request."""
    wanted = {name: value for name, value in equal.items() if value is not None}
    return [f"AND json_extract(body, '$.{name}') = ?" for name in wanted], list(wanted.values())
