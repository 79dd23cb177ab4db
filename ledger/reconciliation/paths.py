"""Whether messages stand on the paths of leaves, for many leaves of many conversations in one query."""

from collections.abc import Collection
from uuid import UUID

from django.db import connection

# As in ledger.querysets: a path is a few stretches of ascending numbers, joined by jumps.
_ON_PATHS = """
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT * FROM unnest(%s::uuid[], %s::int[], %s::int[]) AS a (conversation_id, leaf, sought)
), leaves AS (
    SELECT DISTINCT conversation_id, leaf FROM asked
), spans AS (
    SELECT l.conversation_id, l.leaf, coalesce(j.seq, 1) AS first_seq, l.leaf AS last_seq, j.parent_seq AS up
    FROM leaves l LEFT JOIN LATERAL (
        SELECT m.seq, m.parent_seq FROM conversations_message m
        WHERE m.conversation_id = l.conversation_id AND m.seq <= l.leaf
        AND coalesce(m.parent_seq, 0) <> m.seq - 1 ORDER BY m.seq DESC LIMIT 1) j ON true
    UNION ALL
    SELECT s.conversation_id, s.leaf, coalesce(j.seq, 1), s.up, j.parent_seq
    FROM spans s LEFT JOIN LATERAL (
        SELECT m.seq, m.parent_seq FROM conversations_message m
        WHERE m.conversation_id = s.conversation_id AND m.seq <= s.up
        AND coalesce(m.parent_seq, 0) <> m.seq - 1 ORDER BY m.seq DESC LIMIT 1) j ON true
    WHERE s.up IS NOT NULL
)
SELECT a.conversation_id, a.leaf, a.sought FROM asked a WHERE EXISTS (
    SELECT FROM spans s WHERE s.conversation_id = a.conversation_id AND s.leaf = a.leaf
    AND a.sought BETWEEN s.first_seq AND s.last_seq)
"""

type Place = tuple[UUID, int, int]


def on_paths(places: Collection[Place]) -> set[Place]:
    """Return those of (conversation, leaf, message) whose message is on the path from root to leaf."""
    if not places:
        return set()
    columns = [list(column) for column in zip(*places, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_ON_PATHS, columns)
        return set(cursor.fetchall())
