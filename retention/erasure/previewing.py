"""What an erasure will do, counted before it is approved: erased, pseudonymised, kept with its ground."""

from datetime import datetime
from typing import Any

from django.db import connection

from retention.erasure.emptying import Words, count_words
from retention.erasure.steps import admin_log, job_runs, money, words
from retention.erasure.subject import Subject, read_subject
from retention.models import ErasureRequest
from retention.purging.deleting import COUNT_WITH_CONVERSATIONS

_BLOBS = """
SELECT count(*) FROM conversations_blob b
WHERE EXISTS (
    SELECT FROM conversations_messagepart p WHERE p.blob_id = b.id AND p.conversation_id = ANY(%(ids)s))
AND NOT EXISTS (
    SELECT FROM conversations_messagepart p WHERE p.blob_id = b.id AND p.conversation_id <> ALL(%(ids)s))
"""


def preview_erasure(*, request: ErasureRequest, now: datetime) -> list[dict[str, Any]]:
    """Return a row for each store: its three counts, and the ground for what stays."""
    subject = read_subject(request=request, now=now, run_id=None)
    held = [pk for pk in subject.conversation_ids if pk in subject.blocked]
    ground = "; ".join(sorted({one.words for several in subject.blocked.values() for one in several}))
    erased, kept = _with_conversations(subject.free_ids), _with_conversations(held)
    rows = [_row("accounts", **_accounts(subject), ground=ground)]
    rows += [
        _row(store, erased=erased.get(store, 0), kept=kept.get(store, 0), ground=ground)
        for store in [*erased, *(store for store in kept if store not in erased)]
    ]
    rows.append(_row("blobs", erased=_blobs(subject), kept=0))
    for store, several in {**words.STORES, **job_runs.STORES, **admin_log.STORES}.items():
        rows.append(_row(store, erased=_count(subject, several)))
    rows.append(_row("effects", pseudonymised=len(subject.effect_ids), ground=money.GROUND))
    rows.append(
        _row(
            "access log", pseudonymised=_log_lines(subject), ground="Accountability: ids and times, no words"
        )
    )
    return [row for row in rows if row["erased"] or row["pseudonymised"] or row["kept"]]


def _row(
    store: str, *, erased: int = 0, pseudonymised: int = 0, kept: int = 0, ground: str = ""
) -> dict[str, Any]:
    stays = pseudonymised or kept
    return {
        "store": store,
        "erased": erased,
        "pseudonymised": pseudonymised,
        "kept": kept,
        "ground": ground if stays else "",
    }


def _accounts(subject: Subject) -> dict[str, int]:
    kept = 1 if subject.blocked or subject.held_accounts else 0
    return {"erased": 0 if kept else len(subject.account_ids), "kept": kept and len(subject.account_ids)}


def _with_conversations(ids: list[Any]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(COUNT_WITH_CONVERSATIONS, {"ids": ids})
        return {"conversation": len(ids), **dict(cursor.fetchall())}


def _blobs(subject: Subject) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_BLOBS, {"ids": subject.free_ids})
        return int(cursor.fetchone()[0])


def _count(subject: Subject, several: list[Words]) -> int:
    return sum(count_words(subject, one) for one in several)


def _log_lines(subject: Subject) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM access_accessentry WHERE account_id = ANY(%s) OR conversation_id = ANY(%s)",
            [subject.account_ids, subject.conversation_ids],
        )
        return int(cursor.fetchone()[0])
