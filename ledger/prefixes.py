"""Ids of the processor that begin so: one range of an index in each table that holds ids.

`~>=~` and `~<~` compare bytes and may be asked before the policies of row security, which LIKE may
not; so this walks an index for every role.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection

# Refunds, disputes, events and second charges lead to the effect that they are about.
_SOURCES = (
    "SELECT reference, effect_id FROM ledger_effectreference WHERE {reference}",
    "SELECT external_ref, id FROM ledger_tooleffect WHERE {external_ref} AND external_ref <> ''",
    "SELECT external_ref, effect_id FROM ledger_compensation WHERE {external_ref} AND external_ref <> ''",
    "SELECT external_ref, effect_id FROM ledger_dispute WHERE {external_ref} AND effect_id IS NOT NULL",
    "SELECT reference, effect_id FROM ledger_contradiction WHERE {reference} AND reference <> ''",
    "SELECT event_id, effect_id FROM ledger_webhookevent WHERE {event_id} AND effect_id IS NOT NULL",
)

_STATEMENT = (
    "SELECT DISTINCT matched, effect_id FROM ({branches}) AS found (matched, effect_id)"
    " ORDER BY matched, effect_id LIMIT %(most)s"
)


@dataclass(frozen=True, slots=True)
class Begun:
    """An id that begins as asked, and the effect that it leads to."""

    matched: str
    effect_id: UUID


def find_effects_by_prefix(*, prefix: str, end: str, most: int) -> list[Begun]:
    """Return ids from `prefix` up to `end`, which is not included, with their effects, up to `most`."""
    with connection.cursor() as cursor:
        cursor.execute(statement(), {"begin": prefix, "end": end, "most": most})
        return [Begun(*row) for row in cursor.fetchall()]


def statement() -> str:
    """Return the statement; a test looks at its plan."""
    branches = " UNION ALL ".join(f"({source} LIMIT %(most)s)" for source in _SOURCES)
    for column in ("reference", "external_ref", "event_id"):
        branches = branches.replace(f"{{{column}}}", f"{column} ~>=~ %(begin)s AND {column} ~<~ %(end)s")
    return _STATEMENT.replace("{branches}", branches)
