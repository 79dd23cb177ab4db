"""Applied effects on no live path: 50,000 conversations, 2 million messages, 103,000 effects.

A conversation has 40 messages; three in twenty have 60, with an edit at the twentieth and two
answers regenerated further down, so that an effect of the first try stayed behind. The rows are
written by plain SQL with the triggers of the tree asleep; keys and indexes are the product's.
With `--walk`, the walk from every head by messages, which people write first, stands beside it
(minutes). The verdict is by the quietest round: what it takes while nobody disturbs. One of the two
bounds is enough: at another size than this one the second speaks.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import psycopg

from bench import timing

CONVERSATIONS = 50_000
ROUNDS = 25
MOST_SECONDS = 0.1
MOST_MICROSECONDS_PER_MESSAGE = 1.0
REALM = "bench-abandoned"
# Ids of this corpus, told from others by their first four bytes.
ID = "('0000ab00-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid"

# Behind what the other measurements list first, since they may share the database.
LONG_AGO = "'2020-03-01T00:00Z'::timestamptz"
EFFECT = "('0000ab01-0000-7000-8' || lpad(to_hex(s), 3, '0') || '-' || lpad(to_hex(n), 12, '0'))::uuid"

FILL = (
    f"""
INSERT INTO conversations_conversation (id, account_id, title, source, external_ref, parent_call_id,
    head_seq, head_move, next_seq, next_generation, has_fork, created_at, last_activity_at)
SELECT {ID}, %(account)s, '', 'application', '', '', CASE WHEN n %% 20 < 3 THEN 60 ELSE 40 END, 1,
    CASE WHEN n %% 20 < 3 THEN 61 ELSE 41 END, 1, n %% 20 < 3, {LONG_AGO}, {LONG_AGO}
FROM generate_series(1, %(count)s) n
""",
    f"""
INSERT INTO conversations_headmove (conversation_id, number, head_seq, moved_at, moved_by_kind, reason)
SELECT {ID}, 1, CASE WHEN n %% 20 < 3 THEN 60 ELSE 40 END, {LONG_AGO}, 'customer', 'append'
FROM generate_series(1, %(count)s) n
""",
    f"""
INSERT INTO conversations_message (conversation_id, seq, parent_seq, role, branch_reason, created_at)
SELECT {ID}, s, CASE s WHEN 1 THEN NULL WHEN 41 THEN 19 WHEN 51 THEN 49 WHEN 55 THEN 53 ELSE s - 1 END,
    CASE WHEN s %% 2 = 0 THEN 'assistant' ELSE 'user' END,
    CASE WHEN s = 41 THEN 'user_edit' WHEN s IN (51, 55) THEN 'regenerate' ELSE 'continue' END, {LONG_AGO}
FROM generate_series(1, %(count)s) n,
    generate_series(1, CASE WHEN n %% 20 < 3 THEN 60 ELSE 40 END) s
""",
    f"""
INSERT INTO conversations_messagepart (conversation_id, seq, ordinal, type, payload, tool_call_id, tool_name)
SELECT {ID}, s, 0, 'tool_use', '{{}}', 'call_' || n || '_' || s, 'charge_card'
FROM generate_series(1, %(count)s) n, unnest(%(seqs)s::int[]) s WHERE s <= 40 OR n %% 20 < 3
""",
    f"""
INSERT INTO conversations_toolcall (conversation_id, seq, ordinal, call_id, name, requested_at)
SELECT {ID}, s, 0, 'call_' || n || '_' || s, 'charge_card', {LONG_AGO}
FROM generate_series(1, %(count)s) n, unnest(%(seqs)s::int[]) s WHERE s <= 40 OR n %% 20 < 3
""",
    f"""
INSERT INTO ledger_tooleffect (id, realm_id, account_id, conversation_id, call_seq, call_id, tool_name,
    operation, idempotency_key, key_scope, key_counter, request_digest, processor, find_by, state, move,
    external_ref, amount_minor, amount_settled_minor, currency, requested_at, settled_at)
SELECT {EFFECT}, %(realm)s, %(account)s, {ID}, s, 'call_' || n || '_' || s, 'charge_card', 'charge',
    'bench_' || n || '_' || s, 'call', 1, '\\x00', 'stripe', '{{}}', 'applied', 2, 'ch_' || n || '_' || s,
    1900, 1900, 'usd', {LONG_AGO}, {LONG_AGO}
FROM generate_series(1, %(count)s) n, unnest(%(seqs)s::int[]) s WHERE s <= 40 OR n %% 20 < 3
""",
    f"""
INSERT INTO ledger_effectmove (effect_id, number, from_state, to_state, moved_at, moved_by_kind, source,
    evidence_ref)
SELECT {EFFECT}, move, CASE move WHEN 1 THEN '' ELSE 'pending' END,
    CASE move WHEN 1 THEN 'pending' ELSE 'applied' END, {LONG_AGO}, 'application',
    CASE move WHEN 1 THEN 'begin' ELSE 'answer' END, 'ch_' || n || '_' || s
FROM generate_series(1, %(count)s) n, unnest(%(seqs)s::int[]) s, generate_series(1, 2) move
WHERE s <= 40 OR n %% 20 < 3
""",
)
TABLES = (
    "conversations_conversation",
    "conversations_headmove",
    "conversations_message",
    "conversations_messagepart",
    "conversations_toolcall",
    "ledger_tooleffect",
    "ledger_effectmove",
)
# Calls in these messages: two on every path, a third on the new branch of the forked ones.
SEQS = [10, 24, 44]

WALK = """
WITH RECURSIVE path AS (
    SELECT c.id, c.head_seq AS seq FROM conversations_conversation c WHERE c.head_seq IS NOT NULL
    UNION ALL
    SELECT p.id, m.parent_seq FROM path p JOIN conversations_message m
        ON m.conversation_id = p.id AND m.seq = p.seq WHERE m.parent_seq IS NOT NULL
)
SELECT e.id FROM ledger_tooleffect e WHERE e.state = 'applied' AND e.call_seq IS NOT NULL
AND NOT EXISTS (SELECT FROM path p WHERE p.id = e.conversation_id AND p.seq = e.call_seq)
"""


def main(arguments: list[str]) -> int:
    from ledger.querysets import abandoned_ids

    count = next((int(word) for word in arguments if word.isdecimal()), CONVERSATIONS)
    fill(count)
    found, usual, quiet = measured(abandoned_ids)
    messages = _one(
        "SELECT count(*) FROM conversations_message m JOIN conversations_conversation c"
        " ON c.id = m.conversation_id WHERE c.has_fork"
    )
    sys.stdout.write(
        f"{count} conversations, {_one('SELECT count(*) FROM conversations_message')} messages,"
        f" {_one('SELECT count(*) FROM ledger_tooleffect')} effects, {found} on no live path\n"
        f"  the product's question {usual * 1000:8.1f} ms, {quiet * 1000:8.1f} in the quietest round\n"
    )
    if "--walk" in arguments:
        walked = timed(lambda: plain().execute(WALK).fetchall())
        sys.stdout.write(f"  a walk by messages     {walked * 1000:8.1f} ms\n")
    if found != count * 3 // 20:
        sys.stdout.write(f"MISSED: {count * 3 // 20} were left behind, {found} were found\n")
        return 1
    per_message = quiet * 1e6 / max(messages, 1)
    kept = [
        timing.within("effects on no live path", quiet, MOST_SECONDS, "s"),
        timing.within(
            "  for each message of a forked conversation", per_message, MOST_MICROSECONDS_PER_MESSAGE, "µs"
        ),
    ]
    return 0 if any(kept) else 1


def plain() -> psycopg.Connection:
    return timing.plain_connection()


def measured(ask: Callable[[], list]) -> tuple[int, float, float]:
    """Return how many were found, the median of the rounds, and the quietest."""
    found = len(ask())
    taken = [timed(ask) for _ in range(ROUNDS)]
    return found, median(taken), min(taken)


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _one(query: str) -> int:
    row = plain().execute(query).fetchone()
    return int(row[0]) if row else 0


def fill(count: int) -> None:
    """Write the corpus, once: as the owner, whose tables' triggers can be put to sleep meanwhile."""
    from django.db import connections, transaction

    realm = plain().execute("SELECT id FROM access_realm WHERE slug = %s", [REALM]).fetchone()
    if realm is not None:
        return
    sys.stdout.write(f"writing {count} conversations\n")
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO access_realm (slug, name, created_at) VALUES (%s, 'Bench', now()) RETURNING id",
            [REALM],
        )
        realm_id = cursor.fetchone()[0]
        cursor.execute(
            "INSERT INTO conversations_account (id, realm_id, external_id, label, email, created_at)"
            " VALUES (gen_random_uuid(), %s, 'bench', '', '', now()) RETURNING id",
            [realm_id],
        )
        account = cursor.fetchone()[0]
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        names = {"account": account, "realm": realm_id, "count": count, "seqs": SEQS}
        with transaction.atomic(using="owner"):
            for statement in FILL:
                cursor.execute(statement, names)
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
            cursor.execute(f"VACUUM ANALYZE {table}")
