"""Deleting conversations that nothing stands against: counted, sealed, detached, then in one statement.

Used by the purge and by erasure. The caller holds the locks and has asked.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from ledger.services.detaching import detach_effects
from retention.purging.sealing import seal_calls, seal_generations

# What goes with a conversation, by table.
_GOES_ALONG = (
    "message",
    "messagepart",
    "toolcall",
    "headmove",
    "generation",
    "exchange",
    "summary",
    "chunk",
    "rawbody",
    "archive",
    "conversationnote",
)
COUNT_WITH_CONVERSATIONS = " UNION ALL ".join(
    f"SELECT '{name}', count(*) FROM conversations_{name} WHERE conversation_id = ANY(%(ids)s)"
    for name in _GOES_ALONG
)


def delete_conversations(*, ids: Collection[UUID], now: datetime, run_id: UUID | None) -> dict[str, int]:
    """Delete them with all that is theirs; return how many rows went, by table.

    Money stays: effects are detached first. Costs and calls stay as sealed totals.
    """
    if not ids:
        return {}
    keys: dict[str, Any] = {"ids": list(ids)}
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WITH_CONVERSATIONS, keys)
        counts = {name: number for name, number in cursor.fetchall() if number}
        if "generation" in counts:
            seal_generations(conversation_ids=ids, now=now, run_id=run_id, with_open=True)
        if "toolcall" in counts:
            seal_calls(conversation_ids=ids, now=now, run_id=run_id)
            counts |= _detach(keys["ids"], now=now)
        cursor.execute("DELETE FROM conversations_conversation WHERE id = ANY(%(ids)s)", keys)
        counts["conversation"] = cursor.rowcount
    return counts


def _detach(ids: list[UUID], *, now: datetime) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT conversation_id FROM ledger_tooleffect"
            " WHERE conversation_id = ANY(%s) AND call_seq IS NOT NULL ORDER BY 1",
            [ids],
        )
        attached = [row[0] for row in cursor.fetchall()]
    detached = sum(detach_effects(conversation_id=conversation_id, now=now) for conversation_id in attached)
    return {"effects_detached": detached} if detached else {}
