"""Waiting for whoever was writing when a run was asked for, without being in anybody's way.

A run reads rows with smaller numbers than its own (`conversations.writing_order`). Whoever holds a
smaller one had taken its transaction's id, and with it the lock that every transaction holds on
its own id to its end, before it drew the number. So all of them are among those whose locks are
seen when a run begins; once these are gone, no smaller number is to come. Writers neither wait
for a run nor know of one.
"""

import time
from collections.abc import Sequence
from typing import Final

from django.db import connection

_PAUSE: Final = 0.05
# Those of other databases of the server do not write here; one whose database is not known may.
_OPEN: Final = """
SELECT l.transactionid::text FROM pg_locks l LEFT JOIN pg_stat_activity a USING (pid)
WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
AND l.pid IS DISTINCT FROM pg_backend_pid()
AND (a.datid IS NULL OR a.datid = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


def open_writers() -> list[str]:
    """Return the ids of the transactions that have one, but for our own."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN)
        return sorted(row[0] for row in cursor.fetchall())


def wait_for_writers(transactions: Sequence[str], *, seconds: float) -> list[str]:
    """Wait until these have ended, but no longer than that; return which have not."""
    until = time.monotonic() + seconds
    while still_open := [one for one in open_writers() if one in transactions]:
        if time.monotonic() >= until:
            break
        time.sleep(_PAUSE)
    return still_open
