"""Which conversations are due for what: keys only, oldest first, by an index, a page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from retention.blockers import ROWS_ONLY, blockers_of
from retention.layers import DAYS, DAYS_JOIN, Layers, load_layers
from retention.locks import lock_accounts, lock_conversations
from retention.purging.step import Ask, Taken
from retention.vocabulary import Blocker, DataClass, PolicyAction

_FIRST: tuple[str, str] = ("-infinity", "00000000-0000-0000-0000-000000000000")


@dataclass(frozen=True, slots=True)
class Candidate:
    conversation_id: UUID
    account_id: UUID
    last_activity_at: datetime


_IDLE = f"""
SELECT c.id, c.account_id, c.last_activity_at FROM conversations_conversation c
JOIN conversations_account a ON a.id = c.account_id
{DAYS_JOIN}
WHERE c.last_activity_at < %s AND (c.last_activity_at, c.id) > (%s, %s)
AND least(c.last_activity_at, a.closed_at) < %s - make_interval(days => {DAYS})
@having
ORDER BY c.last_activity_at, c.id LIMIT %s
"""
# Closing an account starts the clock of what was written in it, however lately.
_CLOSED = f"""
SELECT c.id, c.account_id, c.last_activity_at FROM conversations_account a
JOIN conversations_conversation c ON c.account_id = a.id
{DAYS_JOIN}
WHERE a.closed_at < %s AND c.last_activity_at >= %s AND c.id > %s
AND a.closed_at < %s - make_interval(days => {DAYS})
@having
ORDER BY c.id LIMIT %s
"""


def due_conversations(
    ask: Ask,
    *,
    data_class: DataClass,
    action: PolicyAction,
    having: str = "",
    parameters: Sequence[Any] = (),
) -> tuple[list[Candidate], Any]:
    """Return a page of what is due, and where the next one begins (None: there is none).

    `having` is a further condition of ours on `c`, such as that there is anything to take, with its
    `parameters`.
    """
    layers = load_layers(data_class=data_class, now=ask.now)
    days = layers.shortest(action)
    if days is None:
        return [], None
    bound = ask.now - timedelta(days=days)
    if ask.after is None or ask.after[0] == "idle":
        at, last = _FIRST if ask.after is None else ask.after[1:]
        found = _idle(ask, layers, action, bound=bound, after=(at, last), having=(having, parameters))
        if len(found) == ask.limit:
            return found, ["idle", found[-1].last_activity_at.isoformat(), str(found[-1].conversation_id)]
        return found, ["closed", "", _FIRST[1]]
    found = _closed(ask, layers, action, bound=bound, last=ask.after[2], having=(having, parameters))
    return found, ["closed", "", str(found[-1].conversation_id)] if len(found) == ask.limit else None


def free_of(candidates: Sequence[Candidate], *, taken: Taken, takes_rows: bool) -> list[UUID]:
    """Lock, then ask: return those of the candidates that may go now; the others are counted by why not.

    Where only bytes go, an open effect does not stand against it.
    """
    taken.count("due", len(candidates))
    if not candidates:
        return []
    lock_accounts({candidate.account_id for candidate in candidates})
    locked = lock_conversations([candidate.conversation_id for candidate in candidates])
    taken.count(Blocker.BUSY, len(candidates) - len(locked))
    # A second statement: a hold placed before we had the lock is visible only from here on.
    blocked = blockers_of(locked)
    active = _active_since(candidates)
    free = []
    for conversation_id in locked:
        kinds = {
            one.kind for one in blocked.get(conversation_id, []) if takes_rows or one.kind not in ROWS_ONLY
        }
        if kinds:
            taken.count(min(kinds, key=list(Blocker).index), 1)
        elif conversation_id in active:
            taken.count("active_again", 1)
        else:
            free.append(conversation_id)
    return free


def _active_since(candidates: Sequence[Candidate]) -> set[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id FROM conversations_conversation c"
            " JOIN unnest(%s::uuid[], %s::timestamptz[]) AS seen (id, at) ON seen.id = c.id"
            " WHERE c.last_activity_at > seen.at",
            [
                [candidate.conversation_id for candidate in candidates],
                [candidate.last_activity_at for candidate in candidates],
            ],
        )
        return {row[0] for row in cursor.fetchall()}


def _idle(
    ask: Ask,
    layers: Layers,
    action: PolicyAction,
    *,
    bound: datetime,
    after: tuple[str, str],
    having: tuple[str, Sequence[Any]],
) -> list[Candidate]:
    with connection.cursor() as cursor:
        cursor.execute(
            _IDLE.replace("@having", having[0]),
            [
                *layers.arrays(action),
                bound,
                *after,
                ask.now,
                layers.default_days(action),
                *having[1],
                ask.limit,
            ],
        )
        return [Candidate(*row) for row in cursor.fetchall()]


def _closed(
    ask: Ask,
    layers: Layers,
    action: PolicyAction,
    *,
    bound: datetime,
    last: str,
    having: tuple[str, Sequence[Any]],
) -> list[Candidate]:
    with connection.cursor() as cursor:
        cursor.execute(
            _CLOSED.replace("@having", having[0]),
            [
                *layers.arrays(action),
                bound,
                bound,
                last,
                ask.now,
                layers.default_days(action),
                *having[1],
                ask.limit,
            ],
        )
        return [Candidate(*row) for row in cursor.fetchall()]
