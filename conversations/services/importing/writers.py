"""Batches written side by side, each by a connection of its own.

The database's rules cost more than preparing the rows, so a single connection
leaves a machine's cores idle. Inside a transaction (a dry run) there is only
that one connection, and batches are written where they are.
"""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Final, Self

from django.db import connection

from conversations.drafts import ImportedConversation
from conversations.services.importing.report import ImportReport
from conversations.services.importing.writing import Destination, write_batch

MOST_AT_ONCE: Final = 4

type Batch = tuple[Destination, Sequence[ImportedConversation]]


class Writers:
    """Writes batches as they come, at most so many at once, and adds up what became of them."""

    def __init__(self, report: ImportReport) -> None:
        self._report = report
        is_alone = connection.in_atomic_block
        # One more than there are cores: while one waits for its commit, the others keep the cores busy.
        at_once = min(MOST_AT_ONCE, (os.cpu_count() or 1) + 1)
        self._at_once = 1 if is_alone else at_once
        self._pool: ThreadPoolExecutor | None = None
        self._pending: set[Future[ImportReport]] = set()
        # The first batch waits for a second one: alone it needs no connection of its own.
        self._first: Batch | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.finish()
        finally:
            if self._pool is not None:
                self._close_connections(self._pool)
                self._pool.shutdown()

    def write(self, destination: Destination, conversations: Sequence[ImportedConversation]) -> None:
        """Write a batch, now or as soon as a connection is free; raises what an earlier one raised."""
        if self._at_once == 1:
            self._report.absorb(write_batch(destination, conversations))
        elif self._first is None and self._pool is None:
            self._first = (destination, conversations)
        else:
            if self._first is not None:
                self._submit(self._first)
                self._first = None
            self._submit((destination, conversations))

    def finish(self) -> None:
        """Wait until all that was handed over is written."""
        if self._first is not None:
            self._report.absorb(write_batch(*self._first))
            self._first = None
        self._take(wait(self._pending).done)

    def _submit(self, batch: Batch) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._at_once, thread_name_prefix="import-writer")
        if len(self._pending) >= self._at_once:
            self._take(wait(self._pending, return_when=FIRST_COMPLETED).done)
        self._pending.add(self._pool.submit(write_batch, *batch))

    def _take(self, done: set[Future[ImportReport]]) -> None:
        self._pending -= done
        for future in done:
            self._report.absorb(future.result())

    def _close_connections(self, pool: ThreadPoolExecutor) -> None:
        """Each thread closes its own: none may close another's. The barrier gives every thread one turn."""
        everyone = threading.Barrier(self._at_once)

        def close() -> None:
            everyone.wait()
            connection.close()

        wait([pool.submit(close) for _ in range(self._at_once)])
