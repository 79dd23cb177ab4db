"""The path of one conversation: through the product's read, and from flat tables, in turn."""

import sys
from collections.abc import Callable
from uuid import UUID

from bench import corpus, plans, timing

ROUNDS = 400
# What reference measurements say can be had; above it the measurement fails.
MOST_TIMES_FLAT = 2.5
MOST_TIMES_RAW = 1.6


def main(arguments: list[str]) -> int:
    there = corpus.ensure(corpus.wanted(arguments))
    if "--plans" in arguments:
        return plans.show(reads())
    timing.pin()
    ids = [corpus.conversation_id(number) for number in range(there)]
    found = timing.in_turn(
        {
            "flat text": lambda n: read_flat("flat_text", ids[n]),
            "flat bytes": lambda n: read_flat("flat_bytes", ids[n]),
            "path": lambda n: read_path(ids[n]),
            "path's numbers": lambda n: read_seqs(ids[n]),
        },
        choices=there,
        rounds=ROUNDS,
    )
    timing.table(found, beside=("flat text", "flat bytes"))
    ratio = storage()
    is_quick = timing.ratio_within(found, "path", "flat text", MOST_TIMES_FLAT)
    is_small = timing.within("storage", ratio, MOST_TIMES_RAW, "x raw bytes")
    return 0 if is_quick and is_small else 1


def read_flat(table: str, chat_id: UUID) -> list[tuple]:
    return _flat(table)(chat_id)


def _flat(table: str) -> Callable[[UUID], list[tuple]]:
    connection = timing.plain_connection()
    return lambda chat_id: connection.execute(
        f"SELECT role, content FROM bench.{table} WHERE chat_id = %s ORDER BY id", [chat_id], prepare=True
    ).fetchall()


def read_path(conversation_id: UUID) -> int:
    from conversations.reads import path

    return len(path.read_path(conversation_id=conversation_id, leaf_seq=40))


def read_seqs(conversation_id: UUID) -> int:
    from conversations.reads import path

    return len(path.path_seqs(conversation_id=conversation_id, leaf_seq=40))


def reads() -> dict[str, Callable[[], object]]:
    """The hot reads, for `--plans`."""
    return {
        "path": lambda: read_path(corpus.conversation_id(7)),
        "path's numbers": lambda: read_seqs(corpus.conversation_id(7)),
    }


SIZES = """
SELECT c.relname, pg_relation_size(c.oid) + coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0),
    pg_indexes_size(c.oid) + coalesce(pg_indexes_size(nullif(c.reltoastrelid, 0)), 0)
FROM pg_class c WHERE c.relkind = 'r' AND c.relname = ANY(%s) ORDER BY 2 DESC
"""
SHOWN = 15
INDEXES = """
SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index
WHERE indrelid = ANY(%s::regclass[]) ORDER BY 2 DESC
"""


# What finds words stands apart: its size is that of the language, not of the store.
OF_WORDS = ("part_words", "part_bigrams")


def storage() -> float:
    """Print what tables and indexes take, beside the raw bytes of all parts; return the ratio.

    The indexes of words are shown and left out of it.
    """
    from django.db import connection

    tables = [table for table in corpus.COLUMNS if table.startswith("conversations_")]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(coalesce(octet_length(payload), octet_length(text) + %s))::bigint"
            " FROM conversations_messagepart",
            [len('{"type":"text","text":""}')],
        )
        raw = int(cursor.fetchone()[0])
        cursor.execute(SIZES, [tables])
        sizes = cursor.fetchall()
        cursor.execute(INDEXES, [tables])
        indexes = cursor.fetchall()
    for name, heap, index in sizes:
        sys.stdout.write(f"  {name:<30} rows {heap / raw:6.3f}  indexes {index / raw:6.3f}  x raw\n")
    for name, size in indexes[:SHOWN]:
        sys.stdout.write(f"    {name:<52} {size / raw:6.3f}\n")
    words = sum(size for name, size in indexes if name in OF_WORDS)
    sys.stdout.write(f"  the indexes of words {words / raw:.3f} x raw, apart from what follows\n")
    return float((sum(heap + index for _, heap, index in sizes) - words) / raw)
