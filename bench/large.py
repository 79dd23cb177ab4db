"""A million messages: the corpus many times over, under ids of its own, for what must not grow with it.

Written by SQL inside the database, with the triggers of the tree asleep and the index of words built
after: minutes instead of an hour. Keys, checks and foreign keys are the product's. Texts repeat, ids
and digests do not.
"""

import sys
import time
from typing import Any

from bench import corpus

MESSAGES = 1_000_000
BASE = 1_500
# Columns that say something else in every copy; all others are the original's.
OTHERWISE = {
    "id": "bench.copied(id, {n})",
    "conversation_id": "bench.copied(conversation_id, {n})",
    "tool_call_id": "tool_call_id || '-{n}'",
    "call_id": "call_id || '-{n}'",
    "request_id": "request_id || '-{n}'",
    "provider_response_id": "provider_response_id || '-{n}'",
    "provider_request_id": "provider_request_id || '-{n}'",
    "path_digest": "substring(sha256(path_digest || '\\x{n:02x}'::bytea) FROM 1 FOR 16)",
    "last_activity_at": "last_activity_at + {n} * interval '7 seconds'",
}
COPIED = """
CREATE OR REPLACE FUNCTION bench.copied(id uuid, n int) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT (left(id::text, 32) || lpad(to_hex(('x' || right(id::text, 4))::bit(16)::int # n), 4, '0'))::uuid $$
"""
WORDS = "part_words"


def wanted(arguments: list[str]) -> int:
    """Return the number of messages: `--messages=N`, else a million."""
    for argument in arguments:
        if argument.startswith("--messages="):
            return int(argument.partition("=")[2])
    return MESSAGES


def ensure(messages: int) -> int:
    """Have at least so many messages of workload W; return how many there are."""
    from django.db import connections

    base = corpus.ensure(BASE)
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPIED)
        cursor.execute("CREATE TABLE IF NOT EXISTS bench.copies (n int PRIMARY KEY, messages int NOT NULL)")
        cursor.execute("SELECT coalesce(max(n), 0), coalesce(sum(messages), 0) FROM bench.copies")
        last, copied = cursor.fetchone()
        ids = [corpus.conversation_id(number) for number in range(base)]
        cursor.execute(
            "SELECT count(*) FROM conversations_message WHERE conversation_id = ANY(%s::uuid[])", [ids]
        )
        own = int(cursor.fetchone()[0])
        if own + copied >= messages:
            return own + int(copied)
        began = time.monotonic()
        _copy(cursor, ids, first=last + 1, number=-(-(messages - own - copied) // own), own=own)
    corpus.settle()
    sys.stdout.write(f"copied up to {messages:,} messages in {time.monotonic() - began:.0f} s\n")
    return messages


def _copy(cursor: Any, ids: list[Any], *, first: int, number: int, own: int) -> None:
    from django.db import transaction

    tables = [table for table in corpus.COLUMNS if table.startswith("conversations_")]
    cursor.execute("SELECT pg_get_indexdef(%s::regclass)", [WORDS])
    (definition,) = cursor.fetchone()
    for table in tables:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    try:
        cursor.execute(f"DROP INDEX {WORDS}")
        for n in range(first, first + number):
            with transaction.atomic(using="owner"):
                for table in tables:
                    _copy_table(cursor, table, ids, n)
                cursor.execute("INSERT INTO bench.copies VALUES (%s, %s)", [n, own])
    finally:
        cursor.execute("SET maintenance_work_mem = '512MB'")
        cursor.execute(definition)
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def _copy_table(cursor: Any, table: str, ids: list[Any], n: int) -> None:
    names = [name.strip() for name in corpus.COLUMNS[table].split(",")]
    values = [OTHERWISE.get(name, name).format(n=n) for name in names]
    key = "id" if table == "conversations_conversation" else "conversation_id"
    cursor.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {', '.join(values)} FROM {table}"
        f" WHERE {key} = ANY(%s::uuid[]) ORDER BY {key}",
        [ids],
    )
