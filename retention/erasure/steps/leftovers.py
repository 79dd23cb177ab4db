"""What only the person's rows named: fragments, blobs, and the blobs' files."""

from typing import Any

from django.db import connection

from conversations.services.blobs import blob_storage
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject
from retention.purging.sweeping import BLOB_UNUSED, FRAGMENT_UNUSED

PAGE = 500


def run(subject: Subject, after: Any) -> Outcome:
    """Sweep without the purge's day of grace; rows that a writer has just locked are left to it.

    Files go in a page of their own, when the transaction that doomed them has committed.
    """
    if after == "files":
        return _delete_files()
    outcome = Outcome(after="files")
    with connection.cursor() as cursor:
        cursor.execute(_lock("fragment", FRAGMENT_UNUSED), [PAGE])
        fragments = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            f"DELETE FROM conversations_fragment s WHERE s.id = ANY(%s) AND {FRAGMENT_UNUSED}", [fragments]
        )
        gone = {"fragment": cursor.rowcount}
        cursor.execute(_lock("blob", BLOB_UNUSED), [PAGE])
        blobs = [row[0] for row in cursor.fetchall()]
        cursor.execute(
            f"WITH gone AS (DELETE FROM conversations_blob s WHERE s.id = ANY(%s) AND {BLOB_UNUSED}"
            " RETURNING storage_key)"
            " INSERT INTO retention_doomedfile (storage_key, doomed_at) SELECT storage_key, %s FROM gone",
            [blobs, subject.now],
        )
        gone["blob"] = cursor.rowcount
    outcome.erased = {store: number for store, number in gone.items() if number}
    if PAGE in (len(fragments), len(blobs)):
        outcome.after = "more"
    return outcome


def _lock(table: str, unused: str) -> str:
    return (
        f"SELECT s.id FROM conversations_{table} s WHERE {unused}"
        " ORDER BY s.id LIMIT %s FOR UPDATE SKIP LOCKED"
    )


def _delete_files() -> Outcome:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT storage_key FROM retention_doomedfile ORDER BY 1 LIMIT %s FOR UPDATE SKIP LOCKED", [PAGE]
        )
        keys = [row[0] for row in cursor.fetchall()]
        for key in keys:
            blob_storage().delete(key)
        cursor.execute("DELETE FROM retention_doomedfile WHERE storage_key = ANY(%s)", [keys])
    return Outcome(erased={"files": len(keys)} if keys else {}, after="files" if len(keys) == PAGE else None)
