"""What both worlds of retention are compared by: rows that are left, and files."""

from pathlib import Path
from typing import Any

from django.db import connection

from conversations.archive.opening import open_archive
from conversations.models import Account, Archive, Blob
from conversations.services.blobs import blob_storage
from retention.models import DoomedFile

_LEFT = """
SELECT 'parts', p.type || ' ' || p.bytes_state, count(*) FROM conversations_messagepart p
    JOIN conversations_conversation c ON c.id = p.conversation_id JOIN conversations_account a
    ON a.id = c.account_id WHERE a.realm_id = %(realm)s GROUP BY 2
UNION ALL
SELECT 'attempts', g.body_proof, count(*) FROM conversations_generation g
    JOIN conversations_conversation c ON c.id = g.conversation_id JOIN conversations_account a
    ON a.id = c.account_id WHERE a.realm_id = %(realm)s GROUP BY 2
UNION ALL
SELECT 'raw bodies', r.raw_class, count(*) FROM conversations_rawbody r
    JOIN conversations_account a ON a.id = r.account_id WHERE a.realm_id = %(realm)s GROUP BY 2
UNION ALL
SELECT 'messages', '', count(*) FROM conversations_message m
    JOIN conversations_conversation c ON c.id = m.conversation_id JOIN conversations_account a
    ON a.id = c.account_id WHERE a.realm_id = %(realm)s
UNION ALL
SELECT 'archived', '', coalesce(sum(v.part_count), 0) FROM conversations_archive v
    JOIN conversations_conversation c ON c.id = v.conversation_id JOIN conversations_account a
    ON a.id = c.account_id WHERE a.realm_id = %(realm)s
UNION ALL
SELECT 'sealed attempts', s.model, sum(s.number)::bigint * 1000000 + sum(s.output_tokens)::bigint
    FROM retention_generationrollup s WHERE s.run_id = %(run)s GROUP BY 2
UNION ALL
SELECT 'sealed cost', s.model, (sum(s.cost_usd) * 1000000000)::bigint
    FROM retention_generationrollup s WHERE s.run_id = %(run)s GROUP BY 2
UNION ALL
SELECT 'sealed calls', s.tool, sum(s.number)::bigint FROM retention_toolrollup s
    WHERE s.run_id = %(run)s GROUP BY 2
UNION ALL
SELECT 'of age', v.kind, v.number FROM (VALUES
    ('access log', (SELECT count(*) FROM access_accessentry WHERE target_id = 'old')),
    ('sealed', (SELECT count(*) FROM retention_toolrollup WHERE tool = 'old')),
    ('runs', (SELECT count(*) FROM jobs_jobrun WHERE kind LIKE 'old-%%'))) v (kind, number)
ORDER BY 1, 2
"""


def left_in(realm_id: int, *, run_id: Any) -> list[tuple[Any, ...]]:
    """Return what is left of a realm, by kind, and what the run has sealed."""
    with connection.cursor() as cursor:
        cursor.execute(_LEFT, {"realm": realm_id, "run": run_id})
        return list(cursor.fetchall())


def files(folder: Path) -> dict[str, int]:
    """Count the files that rows name and that are there, and those that no row names any more.

    A worker that dies between a file and its row leaves the file; the sweep finds it a day later, so
    such a file is no difference. A row without its file would be one.
    """
    keys = [*Blob.objects.values_list("storage_key", flat=True)]
    keys += Archive.objects.values_list("storage_key", flat=True)
    for conversation_id in Archive.objects.values_list("pk", flat=True):
        open_archive(conversation_id=conversation_id)
    return {
        "named and there": sum(blob_storage().exists(key) for key in keys),
        "named": len(keys),
        "doomed": DoomedFile.objects.count(),
    }


def forget_realm(realm_id: int, folder: Path) -> None:
    """Take the world away, so that the next one meets nothing of it."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_account WHERE realm_id = %s", [realm_id])
        cursor.execute(
            "DELETE FROM conversations_blob b WHERE NOT EXISTS"
            " (SELECT FROM conversations_messagepart p WHERE p.blob_id = b.id)"
        )
        cursor.execute("DELETE FROM retention_doomedfile")
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()
    if Account.objects.filter(realm_id=realm_id).exists():
        raise LookupError("the world is still there")
