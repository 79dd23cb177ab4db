"""Bytes only: what tools were given and gave back, or all that was said; rows, ids and the log stay."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection

from retention.archiving import drop_archives
from retention.purging.archiving import without_archives
from retention.purging.due import due_conversations, free_of
from retention.purging.step import Ask, Taken
from retention.vocabulary import DataClass, PolicyAction

_TOOL_TYPES = ("tool_use", "tool_result", "server_tool_use", "server_tool_result")
_OF_TOOLS = f"AND p.type IN {_TOOL_TYPES}"
_WITH_BYTES = "p.bytes_state IN ('present', 'redacted', 'archived')"


def take_tool_payloads(ask: Ask) -> Taken:
    return _strip(ask, data_class=DataClass.TOOL_PAYLOADS, which=_OF_TOOLS)


def take_all(ask: Ask) -> Taken:
    return _strip(ask, data_class=DataClass.CONVERSATION_BYTES, which="")


def _strip(ask: Ask, *, data_class: DataClass, which: str) -> Taken:
    has_some = (
        "AND EXISTS (SELECT FROM conversations_messagepart p"
        f" WHERE p.conversation_id = c.id AND {_WITH_BYTES} {which})"
    )
    candidates, after = due_conversations(
        ask, data_class=data_class, action=PolicyAction.STRIP, having=has_some
    )
    taken = Taken(after)
    free = free_of(candidates, taken=taken, takes_rows=False)
    if which:
        # A file cannot lose a part of itself.
        free = without_archives(free, taken=taken)
    if free:
        taken.count_all(strip_parts(conversation_ids=free, which=which))
    taken.count("gone", len(free))
    return taken


def strip_parts(
    *, conversation_ids: Collection[UUID], which: str = "", state: str = "stripped"
) -> dict[str, int]:
    """Take the bytes of these conversations' parts; return how many parts, shells and bodies lost theirs.

    The database empties what was derived from them in the same statement. Bodies
    that were made of them cannot be given back any more, and say so.
    """
    keys: dict[str, Any] = {"ids": list(conversation_ids), "state": state}
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH lost AS (UPDATE conversations_messagepart p SET text = NULL, payload = NULL, shell = NULL,"
            " blob_id = NULL, is_text_copy = false, bytes_state = %(state)s"
            f" WHERE p.conversation_id = ANY(%(ids)s) AND {_WITH_BYTES} {which}"
            " RETURNING p.conversation_id, p.seq)"
            " SELECT conversation_id, array_agg(DISTINCT seq), count(*) FROM lost GROUP BY 1",
            keys,
        )
        rows = cursor.fetchall()
        counts = {"messagepart_bytes": sum(row[2] for row in rows)}
        if not which:
            cursor.execute(
                "UPDATE conversations_message SET shell = NULL"
                " WHERE conversation_id = ANY(%(ids)s) AND shell IS NOT NULL",
                keys,
            )
            counts["message_bytes"] = cursor.rowcount
            counts["archive"] = drop_archives(conversation_ids=list(conversation_ids))
    counts["body_lost"] = sum(lose_bodies(conversation_id=row[0], seqs=row[1]) for row in rows)
    return counts


_LOSE = """
WITH RECURSIVE below AS (
    SELECT m.seq FROM conversations_message m WHERE m.conversation_id = %(id)s AND m.seq = ANY(%(seqs)s)
    UNION
    SELECT m.seq FROM below b JOIN conversations_message m
        ON m.conversation_id = %(id)s AND m.parent_seq = b.seq
)
UPDATE conversations_generation g SET body_proof = 'lost', body_patch = NULL
WHERE g.conversation_id = %(id)s AND g.body_proof IN ('exact', 'patched')
AND g.leaf_seq IN (SELECT seq FROM below)
"""


def lose_bodies(*, conversation_id: UUID, seqs: Collection[int]) -> int:
    """Mark every body that held one of these messages as lost; patches quote them, so they go too."""
    with connection.cursor() as cursor:
        cursor.execute(_LOSE, {"id": conversation_id, "seqs": list(seqs)})
        return cursor.rowcount
