"""Writers that start at one moment, each on a connection of its own."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import DatabaseError, connections

from conversations.errors import StoreError

PATIENCE = 60  # Seconds after which a writer that hangs fails its test instead of the whole run.


def at_once(*writers: Callable[[], Any]) -> list[Any]:
    """Run all writers at once; return what each returned, or the refusal that it met."""
    return in_threads([[writer] for writer in writers])


def in_threads(queues: Sequence[Sequence[Callable[[], Any]]]) -> list[Any]:
    """Run each queue of writers in a thread, one after another; return all they returned, flat."""
    start = threading.Barrier(len(queues))

    def run(queue: Sequence[Callable[[], Any]]) -> list[Any]:
        try:
            connections["default"].ensure_connection()
            start.wait(PATIENCE)
            return [_outcome(writer) for writer in queue]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(queues)) as pool:
        running = [pool.submit(run, queue) for queue in queues]
        return [outcome for queue in running for outcome in queue.result(PATIENCE)]


def _outcome(writer: Callable[[], Any]) -> Any:
    try:
        return writer()
    except (StoreError, DatabaseError) as error:
        return error


def closing_connections(writer: Callable[[], Any]) -> Any:
    """Run a writer in a thread that is not one of ours, and leave no connection behind."""
    try:
        return writer()
    finally:
        connections.close_all()
