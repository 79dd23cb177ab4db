"""The rows of a month of charges on their way into the tables, under the database's own rules."""

from typing import Any

from django.db import connection, transaction

from evidence.told import Told
from ledger.copying import copy_rows

COLUMNS = {
    "conversations_conversation": (
        "id account_id title source external_ref parent_call_id head_seq head_move next_seq next_generation"
        " has_fork created_at last_activity_at"
    ),
    "conversations_message": "conversation_id seq parent_seq role branch_reason created_at",
    "conversations_messagepart": "conversation_id seq ordinal type text payload tool_call_id tool_name",
    "conversations_toolcall": "conversation_id seq ordinal call_id name status requested_at",
    "conversations_headmove": "conversation_id number head_seq moved_at moved_by_kind moved_by_id reason",
    "ledger_tooleffect": (
        "id realm_id account_id conversation_id call_seq call_id tool_name operation idempotency_key"
        " key_scope key_counter request_digest processor find_by state move amount_minor currency"
        " requested_at"
    ),
    "ledger_effectmove": (
        "effect_id number from_state to_state moved_at moved_by_kind source evidence_ref evidence_status"
        " evidence_amount_minor evidence_at"
    ),
    "ledger_effectreference": "effect_id processor kind reference seen_at",
    "ledger_effectuse": "conversation_id seq call_id effect_id used_at",
    "ledger_compensation": (
        "id effect_id origin state amount_minor currency reason idempotency_key external_ref requested_at"
        " sent_at settled_at failed_at known_at"
    ),
    "ledger_dispute": (
        "id effect_id processor external_ref charge_ref status reason amount_minor currency opened_at"
        " closed_at seen_at known_at"
    ),
    "ledger_contradiction": (
        "effect_id kind processor reference status amount_minor currency source occurred_at seen_at"
    ),
}


class Rows:
    """Rows held back by table; `write` brings them in, an effect's moves one after the other."""

    def __init__(self) -> None:
        self.held: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
        self.effects: list[Told] = []

    def add(self, table: str, *row: Any) -> None:
        self.held[table].append(row)

    def change_last(self, table: str, **columns: Any) -> None:
        """Change the row that was added last."""
        names = COLUMNS[table].split()
        row = list(self.held[table].pop())
        for name, value in columns.items():
            row[names.index(name)] = value
        self.held[table].append(tuple(row))

    @transaction.atomic
    def write(self) -> None:
        """Write what was made up so far, in one transaction."""
        for table, columns in COLUMNS.items():
            if self.held[table]:
                copy_rows(table, columns.split(), self.held[table])
                self.held[table] = []
        # One move at a time: the database takes no two.
        for number in range(2, 1 + max((told.moves for told in self.effects), default=1)):
            _bring_states_up_to(number, [told for told in self.effects if told.moves >= number])
        self.effects = []


def _bring_states_up_to(number: int, moved: list[Told]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE ledger_tooleffect e SET state = m.to_state, move = m.number, sent_at = e.requested_at,
                external_ref = CASE WHEN t.settled > 0 THEN t.charge ELSE '' END,
                settled_at = CASE WHEN t.settled > 0 THEN e.requested_at END,
                amount_settled_minor = CASE WHEN t.settled > 0 THEN t.settled END,
                amount_compensated_minor = t.back,
                compensated_by = CASE WHEN m.to_state = 'compensated' THEN m.evidence_ref ELSE '' END
            FROM ledger_effectmove m,
                unnest(%s::uuid[], %s::text[], %s::bigint[], %s::bigint[]) AS t (id, charge, settled, back)
            WHERE e.id = t.id AND m.effect_id = e.id AND m.number = %s
            """,
            [
                [told.id for told in moved],
                [told.charge for told in moved],
                [told.settled for told in moved],
                [told.back for told in moved],
                number,
            ],
        )
