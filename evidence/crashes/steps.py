"""Every step of a process, and how to strike it there.

A step is a statement about to run or just run, a transaction about to commit or just
committed, a request about to leave or just answered. They are counted, not named by
the product: a step that somebody adds tomorrow is struck tomorrow.
"""

import os
import signal
from collections.abc import Callable
from enum import StrEnum
from typing import Any
from unittest.mock import patch

import psycopg
import stripe
from django.db import connections

from evidence.crashes import wire


class How(StrEnum):
    KILL = "process killed"
    CUT = "database connection cut"


class Steps:
    """Counts the steps of this process; at the one asked for, strikes."""

    def __init__(self, *, at: int, how: How) -> None:
        self.at, self.how = at, how
        self.names: list[str] = []

    def reach(self, name: str) -> None:
        self.names.append(name)
        if len(self.names) == self.at:
            self._strike()

    def watch(self) -> None:
        """Put a step around everything that this process says to the database and to the processor."""
        database = connections["default"]
        database.execute_wrappers.append(self._around_statement)
        commit: Callable[[], None] = database.commit

        def watched_commit() -> None:
            self.reach("before COMMIT")
            commit()
            self.reach("after COMMIT")

        patch.object(database, "commit", watched_commit).start()
        request = stripe.RequestsClient.request

        def watched_request(client: Any, method: str, *rest: Any, **more: Any) -> Any:
            self.reach(f"before {method.upper()}")
            answer = request(client, method, *rest, **more)
            self.reach(f"after {method.upper()}")
            return answer

        patch.object(stripe.RequestsClient, "request", watched_request).start()
        send = wire.send

        def watched_send(address: str, path: str, **more: Any) -> Any:
            name = path.rpartition("/")[2]
            self.reach(f"before {name}")
            answer = send(address, path, **more)
            self.reach(f"after {name}")
            return answer

        patch.object(wire, "send", watched_send).start()

    def _around_statement(self, execute: Callable, sql: str, params: Any, many: bool, context: Any) -> Any:
        verb = sql.lstrip().partition(" ")[0].partition("\n")[0].upper()
        self.reach(f"before {verb}")
        answer = execute(sql, params, many, context)
        self.reach(f"after {verb}")
        return answer

    def _strike(self) -> None:
        if self.how == How.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        backend = connections["default"].connection
        if backend is None:
            return
        # A role may end its own connections: nobody else has to do it.
        with psycopg.connect(backend.info.dsn, password=backend.info.password, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend.info.backend_pid])
