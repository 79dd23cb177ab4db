"""Raw bodies: those of conversations by the conversation's clock, nobody's by their own age.

Bounded by bytes as well as rows: a raw body may be large, and a statement has its time. A dry run takes
a page whole, as the rest of one that comes back would never be reached.
"""

from typing import Any
from uuid import UUID

from django.db import connection

from retention.blockers import held_evidence
from retention.layers import DAYS, DAYS_JOIN, load_layers
from retention.purging.due import due_conversations, free_of
from retention.purging.step import Ask, Taken
from retention.vocabulary import Blocker, DataClass, PolicyAction

BYTES_LIMIT = 64 * 1024 * 1024
NO_LIMIT = 2**63 - 1
_HAS_SOME = "AND EXISTS (SELECT FROM conversations_rawbody r WHERE r.conversation_id = c.id)"
FIRST = ["-infinity", "00000000-0000-0000-0000-000000000000"]


def take_of_conversations(ask: Ask) -> Taken:
    candidates, after = due_conversations(
        ask, data_class=DataClass.RAW_BODIES, action=PolicyAction.PURGE, having=_HAS_SOME
    )
    taken = Taken(after)
    free = free_of(candidates, taken=taken, takes_rows=False)
    if not free:
        return taken
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM (SELECT id, size, sum(size) OVER (ORDER BY id) AS upto"
            " FROM conversations_rawbody WHERE conversation_id = ANY(%s)) r WHERE upto - size < %s",
            [free, NO_LIMIT if ask.is_dry_run else BYTES_LIMIT],
        )
        ids = [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT count(*) FROM conversations_rawbody WHERE conversation_id = ANY(%s)", [free])
        if cursor.fetchone()[0] > len(ids):
            # The rest of this page is the next batch, and counted there.
            taken = Taken(ask.after or ["idle", *FIRST])
    taken.count_all(delete_raw_bodies(ids))
    taken.count("gone", len(ids))
    return taken


# A webhook that nobody has worked on is still needed, and so is the evidence of what is held.
NOBODYS = f"""
SELECT r.id, r.created_at FROM conversations_rawbody r
LEFT JOIN conversations_account a ON a.id = r.account_id
{DAYS_JOIN}
WHERE r.conversation_id IS NULL AND (r.created_at, r.id) > (%s, %s)
AND r.created_at < %s - make_interval(days => {DAYS})
AND NOT EXISTS (
    SELECT FROM retention_legalhold h WHERE h.account_id = r.account_id AND h.released_at IS NULL)
AND NOT EXISTS (
    SELECT FROM ledger_webhookevent w LEFT JOIN ledger_tooleffect e ON e.id = w.effect_id
    WHERE w.raw_id = r.id AND (w.processed_at IS NULL
        OR retention_hold_on(e.conversation_id, e.account_id) IS NOT NULL))
AND NOT EXISTS (
    SELECT FROM ledger_effectmove m JOIN ledger_tooleffect e ON e.id = m.effect_id
    WHERE m.raw_id = r.id AND retention_hold_on(e.conversation_id, e.account_id) IS NOT NULL)
ORDER BY r.created_at, r.id LIMIT %s FOR UPDATE OF r SKIP LOCKED
"""


def take_nobodys(ask: Ask) -> Taken:
    layers = load_layers(data_class=DataClass.RAW_BODIES, now=ask.now)
    if layers.shortest(PolicyAction.PURGE) is None:
        return Taken()
    with connection.cursor() as cursor:
        cursor.execute(
            NOBODYS,
            [
                *layers.arrays(PolicyAction.PURGE),
                *(ask.after or FIRST),
                ask.now,
                layers.default_days(PolicyAction.PURGE),
                ask.limit,
            ],
        )
        rows: list[Any] = cursor.fetchall()
    taken = Taken([rows[-1][1].isoformat(), str(rows[-1][0])] if len(rows) == ask.limit else None)
    taken.count("due", len(rows))
    # A second statement: a hold placed before we had the lock is visible only from here on.
    held = held_evidence([row[0] for row in rows])
    taken.count(Blocker.HOLD, len(held))
    taken.count_all(delete_raw_bodies([row[0] for row in rows if row[0] not in held]))
    taken.count("gone", len(rows) - len(held))
    return taken


def delete_raw_bodies(ids: list[UUID]) -> dict[str, int]:
    """Delete them; attempts whose body was kept whole in one say from then on that it is lost."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE conversations_generation SET body_proof = 'lost'"
            " WHERE raw_request_id = ANY(%s) AND body_proof = 'verbatim'",
            [ids],
        )
        lost = cursor.rowcount
        cursor.execute("DELETE FROM conversations_rawbody WHERE id = ANY(%s)", [ids])
        return {"rawbody": cursor.rowcount, "body_lost": lost}
