"""Raw bodies outside conversations: the account's own, what processors sent about it, files that name it.

Webhooks and statements quote names and addresses. Their evidence stays in the ledger as ids,
amounts and times; the bytes go. What is held, or not yet worked on, stays.
"""

from typing import Any
from uuid import UUID

import zstandard
from django.db import connection

from retention.blockers import held_evidence
from retention.erasure.outcome import Outcome
from retention.erasure.patterns import byte_forms, holds_any
from retention.erasure.subject import Subject
from retention.locks import lock_accounts
from retention.purging.raw_bodies import delete_raw_bodies

PAGE = 200
_THEIRS = """
SELECT r.id FROM conversations_rawbody r WHERE r.conversation_id IS NULL AND (
    r.account_id = ANY(%(accounts)s::uuid[])
    OR r.id IN (SELECT w.raw_id FROM ledger_webhookevent w WHERE w.effect_id = ANY(%(effects)s::uuid[])))
ORDER BY r.id FOR UPDATE OF r
"""
_NOBODYS = """
SELECT r.id, r.compressed, r.size FROM conversations_rawbody r
WHERE r.conversation_id IS NULL AND r.id > %s ORDER BY r.id LIMIT %s
"""


def run(subject: Subject, after: Any) -> Outcome:
    """First those that are linked to the person, then, a page at a time, those that name the person."""
    lock_accounts(subject.account_ids)
    if after is None:
        with connection.cursor() as cursor:
            cursor.execute(_THEIRS, {"accounts": subject.account_ids, "effects": subject.effect_ids})
            ids = [row[0] for row in cursor.fetchall()]
        outcome = _delete(ids)
        outcome.after = str(UUID(int=0))
        return outcome
    with connection.cursor() as cursor:
        cursor.execute(_NOBODYS, [after, PAGE])
        rows = cursor.fetchall()
    forms = byte_forms(subject.searched_names)
    outcome = _delete([row[0] for row in rows if holds_any(opened(row[1], row[2]), forms)])
    outcome.after = str(rows[-1][0]) if len(rows) == PAGE else None
    return outcome


def opened(compressed: Any, size: int) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(compressed), max_output_size=max(size, 1))


def _delete(ids: list[UUID]) -> Outcome:
    held = held_evidence(ids)
    gone = delete_raw_bodies([pk for pk in ids if pk not in held])["rawbody"]
    outcome = Outcome(erased={"rawbody": gone} if gone else {})
    if held:
        outcome.kept = {"rawbody": len(held)}
        outcome.cause = f"{len(held)} raw bodies are evidence of what is held, or not worked on yet"
    return outcome
