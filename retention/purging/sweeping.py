"""What nothing names any more: fragments, blobs and the files of blobs.

Lock first, ask second: a writer that found a fragment or a blob holds its row
until its own rows are committed, so the sweep passes it over or sees who names
it. A blob's row goes first, its file after; keys are never used again, so an
import of the same bytes in between makes a row and a file of its own.
"""

from datetime import timedelta
from itertools import islice

from django.conf import settings
from django.db import connection

from conversations.services.blobs import blob_storage
from retention.layers import load_layers
from retention.purging.step import Ask, Taken
from retention.stored_files import keys_after
from retention.vocabulary import DataClass, PolicyAction

_LOCK = """
SELECT s.id FROM conversations_{table} s WHERE s.created_at < %s AND s.id > %s AND {unused}
ORDER BY s.id LIMIT %s FOR UPDATE SKIP LOCKED
"""
FRAGMENT_UNUSED = " AND ".join(
    f"NOT EXISTS (SELECT FROM conversations_generation g WHERE g.{column}_id = s.id)"
    for column in ("preamble", "leading", "tools", "envelope")
)
BLOB_UNUSED = "NOT EXISTS (SELECT FROM conversations_messagepart p WHERE p.blob_id = s.id)"


def take_fragments(ask: Ask) -> Taken:
    taken, ids = _lock(ask, table="fragment", unused=FRAGMENT_UNUSED)
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM conversations_fragment s WHERE s.id = ANY(%s) AND {FRAGMENT_UNUSED}", [ids]
        )
        taken.count("fragment", cursor.rowcount)
        taken.count("gone", cursor.rowcount)
    return taken


def take_blobs(ask: Ask) -> Taken:
    taken, ids = _lock(ask, table="blob", unused=BLOB_UNUSED)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH gone AS (DELETE FROM conversations_blob s WHERE s.id = ANY(%s) AND {BLOB_UNUSED}"
            " RETURNING storage_key)"
            " INSERT INTO retention_doomedfile (storage_key, doomed_at) SELECT storage_key, %s FROM gone",
            [ids, ask.now],
        )
        taken.count("blob", cursor.rowcount)
        taken.count("gone", cursor.rowcount)
    return taken


def take_doomed_files(ask: Ask) -> Taken:
    """Delete files whose row has been gone for a while: a backup's database may still name them.

    Killed in between, it deletes them again, to no effect.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT storage_key FROM retention_doomedfile WHERE storage_key > %s AND doomed_at <= %s"
            " ORDER BY 1 LIMIT %s FOR UPDATE SKIP LOCKED",
            [ask.after or "", ask.now - timedelta(hours=settings.DELETED_FILES_STAY_HOURS), ask.limit],
        )
        keys = [row[0] for row in cursor.fetchall()]
        if not ask.is_dry_run:
            for key in keys:
                blob_storage().delete(key)
        cursor.execute("DELETE FROM retention_doomedfile WHERE storage_key = ANY(%s)", [keys])
    return Taken(
        keys[-1] if len(keys) == ask.limit else None,
        {"due": len(keys), "file": len(keys), "gone": len(keys)} if keys else {},
    )


_NAMED = """
SELECT storage_key FROM conversations_blob WHERE storage_key = ANY(%(keys)s)
UNION ALL SELECT storage_key FROM conversations_archive WHERE storage_key = ANY(%(keys)s)
UNION ALL SELECT storage_key FROM retention_doomedfile WHERE storage_key = ANY(%(keys)s)
"""


def take_orphan_files(ask: Ask) -> Taken:
    """Delete files that no row names: their writer died between the file and its row."""
    keys = list(islice(keys_after(ask.after or ""), ask.limit))
    taken = Taken(keys[-1] if len(keys) == ask.limit else None)
    old = [key for key in keys if _is_old(key, ask)]
    with connection.cursor() as cursor:
        cursor.execute(_NAMED, {"keys": old})
        named = {row[0] for row in cursor.fetchall()}
    orphans = [key for key in old if key not in named]
    for key in orphans:
        if not ask.is_dry_run:
            blob_storage().delete(key)
    taken.count("due", len(orphans))
    taken.count("orphan_file", len(orphans))
    taken.count("gone", len(orphans))
    return taken


def _lock(ask: Ask, *, table: str, unused: str) -> tuple[Taken, list[int]]:
    days = load_layers(data_class=DataClass.BLOBS, now=ask.now).shortest(PolicyAction.PURGE)
    if days is None:
        return Taken(), []
    with connection.cursor() as cursor:
        cursor.execute(
            _LOCK.format(table=table, unused=unused),
            [ask.now - timedelta(days=days), ask.after or 0, ask.limit],
        )
        ids = [row[0] for row in cursor.fetchall()]
    taken = Taken(ids[-1] if len(ids) == ask.limit else None)
    taken.count("due", len(ids))
    return taken, ids


def _is_old(key: str, ask: Ask) -> bool:
    """A file as young as this may be about to get its row."""
    try:
        return blob_storage().get_modified_time(key) < ask.now - timedelta(days=1)
    except FileNotFoundError:
        return False
