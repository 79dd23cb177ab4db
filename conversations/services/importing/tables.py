"""The tables that an import fills, and their COPY."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from psycopg import sql

type Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table's columns in the order of its rows, with the types that binary COPY needs."""

    name: str
    columns: str
    types: str


CONVERSATIONS: Final = Table(
    "conversations_conversation",
    "id, account_id, title, source, external_ref, parent_call_id, head_seq, head_move, next_seq,"
    " next_generation, has_fork, replay_obstacle, started_at, created_at, last_activity_at",
    "uuid uuid text varchar varchar varchar int4 int4 int4 int4 bool varchar"
    " timestamptz timestamptz timestamptz",
)
MESSAGES: Final = Table(
    "conversations_message",
    "conversation_id, seq, parent_seq, answers_seq, role, provider_role, dialect, shell, path_digest,"
    " branch_reason, is_hidden, client_message_id, token_count, occurred_at, created_at",
    "uuid int4 int4 int4 varchar varchar varchar text bytea varchar bool varchar int4"
    " timestamptz timestamptz",
)
PARTS: Final = Table(
    "conversations_messagepart",
    "conversation_id, seq, ordinal, type, provider_type, text, payload, shell, is_text_copy, bytes_state,"
    " media_type, blob_id, tool_call_id, tool_name, is_minted_id, answers_seq, status, orphan",
    "uuid int4 int2 varchar varchar text bytea text bool varchar varchar int8 varchar varchar"
    " bool int4 varchar bool",
)
GENERATIONS: Final = Table(
    "conversations_generation",
    "conversation_id, number, request_id, attempt, provider, dialect, requested_model, served_model,"
    " leaf_seq, message_seq, status, notes, created_at, finished_at",
    "uuid int4 varchar int4 varchar varchar varchar varchar int4 int4 varchar jsonb timestamptz timestamptz",
)
CALLS: Final = Table(
    "conversations_toolcall",
    "conversation_id, seq, ordinal, call_id, name, status, arguments, error_code, duration_ms, requested_at,"
    " generation_number",
    "uuid int4 int2 varchar varchar varchar jsonb varchar int4 timestamptz int4",
)
HEAD_MOVES: Final = Table(
    "conversations_headmove",
    "conversation_id, number, head_seq, moved_at, moved_by_kind, moved_by_id, reason",
    "uuid int4 int4 timestamptz varchar varchar varchar",
)
RAW_BODIES: Final = Table(
    "conversations_rawbody",
    "id, raw_class, conversation_id, account_id, sha256, size, compressed, place, trouble, created_at",
    "uuid varchar uuid uuid bytea int8 bytea varchar varchar timestamptz",
)
# In the order of their keys: a row never goes before the one it names.
TABLES: Final = (CONVERSATIONS, MESSAGES, GENERATIONS, PARTS, CALLS, HEAD_MOVES, RAW_BODIES)


def copy_rows(table: Table, rows: Sequence[Row]) -> None:
    if not rows:
        return
    if _is_under_row_security(table):
        _insert_rows(table, rows)
        return
    with (
        connection.cursor() as cursor,
        connection.wrap_database_errors,
        cursor.copy(f"COPY {table.name} ({table.columns}) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.set_types(table.types.split())
        for row in rows:
            copy.write_row(row)


def _is_under_row_security(table: Table) -> bool:
    """Tell whether policies are asked for this role: PostgreSQL refuses COPY then, whatever they say."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_security_active(%s::regclass)", [table.name])
        return bool(cursor.fetchone()[0])


def _insert_rows(table: Table, rows: Sequence[Row]) -> None:
    columns = [sql.Identifier(column.strip()) for column in table.columns.split(",")]
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(table.name),
        sql.SQL(", ").join(columns),
        sql.SQL(", ").join(sql.SQL("%s::") + sql.Identifier(kind) for kind in table.types.split()),
    )
    with connection.cursor() as cursor:
        cursor.executemany(statement, rows)
