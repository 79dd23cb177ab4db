"""Archive files, opened one by one: each must be there, unchanged, and hold what its rows say is in it."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from conversations.archive.opening import ArchiveError, open_archive

OPENS, HOLDS = "archive-opens", "archive-holds-its-parts"
ARCHIVE_RULES = (OPENS, HOLDS)

_PARTS = """
SELECT conversation_id, seq, ordinal FROM conversations_messagepart
WHERE conversation_id = %s AND bytes_state = 'archived'
"""


def broken_archives(ids: Sequence[UUID]) -> dict[str, list[str]]:
    """Return what breaks a rule of archives within these conversations; empty is well."""
    found: dict[str, list[str]] = {}
    for conversation_id in ids:
        try:
            content = open_archive(conversation_id=conversation_id)
        except ArchiveError as error:
            found.setdefault(OPENS, []).append(f"{conversation_id} {error.explanation}")
            continue
        with connection.cursor() as cursor:
            cursor.execute(_PARTS, [conversation_id])
            for _, seq, ordinal in cursor.fetchall():
                if (seq, ordinal) not in content.parts:
                    found.setdefault(HOLDS, []).append(f"{conversation_id} #{seq}.{ordinal}")
    return found
