"""What a change of policy will take: the purge's own queries, on the rules as they would be."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from retention.layers import DAYS, DAYS_JOIN, Layers, layer_of, layers_from, load_layers
from retention.models import RetentionPolicy
from retention.purging.aging import RUN_IS_OVER, bounds_of_runs
from retention.purging.deleting import COUNT_WITH_CONVERSATIONS
from retention.purging.sweeping import BLOB_UNUSED, FRAGMENT_UNUSED
from retention.vocabulary import DataClass, PolicyAction

SAMPLES = 5


@dataclass(frozen=True, slots=True)
class Preview:
    """Rows of the rule's layer that are due on the day it begins: as the rules are, and as they would be.

    Exact for that moment, holds not taken off; a sample of the conversations that would be.
    """

    rule: RetentionPolicy
    before: dict[str, int]
    after: dict[str, int]
    samples: list[UUID]

    @property
    def rows(self) -> list[tuple[str, int, int]]:
        """Return what a page shows: each store with both counts."""
        names = [*self.before, *(name for name in self.after if name not in self.before)]
        return [(name, self.before.get(name, 0), self.after.get(name, 0)) for name in names]


# What counts, by class: a table, and which rows of the due conversations (all, where empty).
_WHAT: dict[str, list[tuple[str, str]]] = {
    DataClass.CONVERSATION_BYTES: [("messagepart", "r.bytes_state IN ('present', 'redacted', 'archived')")],
    DataClass.TOOL_PAYLOADS: [
        (
            "messagepart",
            (
                "r.bytes_state IN ('present', 'redacted', 'archived')"
                " AND r.type IN ('tool_use', 'tool_result', 'server_tool_use', 'server_tool_result')"
            ),
        )
    ],
    DataClass.GENERATION_DETAIL: [("generation", "r.status NOT IN ('queued', 'streaming')")],
    DataClass.RAW_BODIES: [("rawbody", "true")],
}
_BY_AGE = {
    DataClass.BLOBS: (
        "SELECT 'blob', count(*) FROM conversations_blob s WHERE s.created_at < %(before)s AND "
        + BLOB_UNUSED
        + " UNION ALL SELECT 'fragment', count(*) FROM conversations_fragment s"
        + " WHERE s.created_at < %(before)s AND "
        + FRAGMENT_UNUSED
    ),
    DataClass.ACCESS_LOG: "SELECT 'accessentry', count(*) FROM access_accessentry WHERE at < %(before)s",
    DataClass.ROLLUPS: (
        "SELECT 'generationrollup', count(*) FROM retention_generationrollup WHERE day < %(before)s::date"
        " UNION ALL SELECT 'toolrollup', count(*) FROM retention_toolrollup WHERE day < %(before)s::date"
    ),
    DataClass.JOB_RUNS: f"SELECT 'jobrun', count(*) FROM jobs_jobrun s WHERE {RUN_IS_OVER}",
}
_DUE = f"""
WITH due AS MATERIALIZED (
    SELECT c.id, c.last_activity_at FROM conversations_conversation c
    JOIN conversations_account a ON a.id = c.account_id
    {DAYS_JOIN}
    WHERE least(c.last_activity_at, a.closed_at) < %s - make_interval(days => {DAYS})
    AND a.realm_id = coalesce(%s::int, a.realm_id) AND a.id = coalesce(%s::uuid, a.id)
)
"""
_DEAD = """
, live AS (
    SELECT m.conversation_id, m.seq, m.parent_seq FROM due d JOIN conversations_conversation c ON c.id = d.id
        JOIN conversations_message m ON m.conversation_id = c.id AND m.seq = c.head_seq WHERE c.has_fork
    UNION ALL
    SELECT m.conversation_id, m.seq, m.parent_seq FROM live l JOIN conversations_message m
        ON m.conversation_id = l.conversation_id AND m.seq = l.parent_seq
)
SELECT 'message', count(*) FROM due d JOIN conversations_conversation c ON c.id = d.id AND c.has_fork
    AND c.head_seq IS NOT NULL
JOIN conversations_message m ON m.conversation_id = c.id
WHERE NOT EXISTS (SELECT FROM live l WHERE l.conversation_id = m.conversation_id AND l.seq = m.seq)
"""


def preview_policy(*, rule: RetentionPolicy) -> Preview:
    """Count what is due on the day it begins, without it and with it; writes nothing."""
    now = load_layers(data_class=DataClass(rule.data_class), now=rule.effective_from)
    then = layers_from([*_without(now, rule), rule])
    before, _ = _count(now, rule)
    after, samples = _count(then, rule)
    return Preview(rule, before, after, samples)


def _without(layers: Layers, rule: RetentionPolicy) -> list[RetentionPolicy]:
    return [other for other in layers.every() if layer_of(other) != layer_of(rule)]


def _count(layers: Layers, rule: RetentionPolicy) -> tuple[dict[str, int], list[UUID]]:
    """Count over every action that the class has."""
    if rule.data_class in _BY_AGE:
        return _count_by_age(layers, rule), []
    counts: dict[str, int] = {}
    samples: list[UUID] = []
    actions = {other.action for other in layers.every()} - {PolicyAction.KEEP, PolicyAction.INHERIT}
    for action in sorted(actions):
        parameters: list[Any] = [
            *layers.arrays(PolicyAction(action)),
            rule.effective_from,
            layers.default_days(PolicyAction(action)),
            rule.realm_id,
            rule.account_id,
        ]
        with connection.cursor() as cursor:
            cursor.execute(_counting(DataClass(rule.data_class), PolicyAction(action)), parameters)
            for name, number in cursor.fetchall():
                if number:
                    counts[name] = counts.get(name, 0) + number
            cursor.execute(f"{_DUE} SELECT id FROM due ORDER BY last_activity_at LIMIT {SAMPLES}", parameters)
            samples += [row[0] for row in cursor.fetchall()]
    return counts, samples[:SAMPLES]


def _count_by_age(layers: Layers, rule: RetentionPolicy) -> dict[str, int]:
    days = layers.default.days
    if days is None:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_BY_AGE[DataClass(rule.data_class)], bounds_of_runs(days, rule.effective_from))
        return {name: number for name, number in cursor.fetchall() if number}


def _counting(data_class: DataClass, action: PolicyAction) -> str:
    if data_class == DataClass.CONVERSATION:
        counted = COUNT_WITH_CONVERSATIONS.replace("ANY(%(ids)s)", "ANY(SELECT id FROM due)")
        return f"{_DUE} SELECT 'conversation', count(*) FROM due UNION ALL {counted}"
    if data_class == DataClass.ABANDONED_BRANCHES:
        return _DUE.replace("WITH due", "WITH RECURSIVE due") + _DEAD
    what = _WHAT[data_class]
    if action == PolicyAction.ARCHIVE:
        what = [("messagepart", "r.bytes_state IN ('present', 'redacted')")]
    selects = [
        f"SELECT '{table}', count(*) FROM conversations_{table} r JOIN due d ON d.id = r.conversation_id"
        f" WHERE {which}"
        for table, which in what
    ]
    return f"{_DUE} {' UNION ALL '.join(selects)}"
