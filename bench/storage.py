"""What a conversation takes on disk, beside its raw bytes: in a database in which nothing was deleted."""

import sys

from bench import corpus, timing

ALONE = True
CONVERSATIONS = 1_000
# What reference measurements say can be had; above it the measurement fails.
MOST_TIMES_RAW = 1.6

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


def main(arguments: list[str]) -> int:
    del arguments
    corpus.ensure(CONVERSATIONS)
    return 0 if timing.within("storage", weigh(), MOST_TIMES_RAW, "x raw bytes") else 1


def weigh() -> float:
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
