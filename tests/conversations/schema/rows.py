"""Rows written as plain SQL, past every service, and what PostgreSQL says to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, connections, transaction
from psycopg import Error as DriverError

from tests.conversations.conftest import NOW

PRIVILEGE = "insufficient privilege"

# What a row needs besides the columns that a test is about.
DEFAULTS: dict[str, dict[str, Any]] = {
    "message": {"role": "user", "branch_reason": "continue", "created_at": NOW},
    "messagepart": {},
    "toolcall": {"name": "get_order", "requested_at": NOW},
    "headmove": {"reason": "append", "moved_at": NOW, "moved_by_kind": "customer"},
    "generation": {
        "request_id": "r-1",
        "attempt": 1,
        "provider": "anthropic",
        "dialect": "anthropic_messages",
        "requested_model": "claude-sonnet-4-5",
        "status": "streaming",
        "notes": "[]",
        "created_at": NOW,
    },
    "summary": {
        "text": "in short",
        "model": "",
        "prompt_version": "v1",
        "is_pinned": False,
        "created_at": NOW,
    },
    "chunk": {
        "byte_start": 0,
        "byte_end": 4,
        "sha256": b"\0" * 32,
        "chunking_version": "v1",
        "created_at": NOW,
    },
    "fragment": {"kind": "tools", "body": b"[]", "created_at": NOW},
    "blob": {"size": 4, "created_at": NOW},
    "rawbody": {"sha256": b"\0" * 32, "size": 2, "compressed": b"{}", "created_at": NOW},
    "exchange": {},
    "archive": {
        "storage_key": "ab/abc",
        "sha256": b"\0" * 32,
        "size": 2,
        "part_count": 1,
        "byte_count": 2,
        "next_seq": 7,
        "content_sha256": b"\0" * 32,
        "archived_at": NOW,
    },
}


def insert(table: str, **columns: Any) -> None:
    row = {**DEFAULTS[table], **columns}
    names, marks = ", ".join(row), ", ".join(["%s"] * len(row))
    execute(f"INSERT INTO conversations_{table} ({names}) VALUES ({marks})", *row.values())


def execute(sql: str, *parameters: Any, using: str = "default") -> None:
    with connections[using].cursor() as cursor:
        cursor.execute(sql, parameters or None)


def fetch(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return list(cursor.fetchall())


@contextmanager
def refused(rule: str, *, using: str = "default") -> Iterator[None]:
    """Expect that PostgreSQL refuses the transaction within, by the rule's name, and keeps none of it."""
    before = every_row()
    with pytest.raises(DatabaseError) as caught, transaction.atomic(using=using):
        yield
    assert name_of(caught.value) == rule
    assert every_row() == before


def name_of(error: DatabaseError) -> str | None:
    cause = error.__cause__
    assert isinstance(cause, DriverError)
    if cause.sqlstate == "42501":
        return PRIVILEGE
    if cause.sqlstate == "23502":
        # A column that must be filled has a constraint with a name from PostgreSQL 18 on only.
        return f"{cause.diag.table_name}.{cause.diag.column_name}"
    return cause.diag.constraint_name


def every_row() -> dict[str, list[tuple[Any, ...]]]:
    tables = [model._meta.db_table for model in apps.get_app_config("conversations").get_models()]
    return {table: fetch(f"SELECT t::text FROM {table} t ORDER BY 1") for table in tables}


def message(conversation_id, seq, parent, *, answers=None, role="user"):
    insert(
        "message", conversation_id=conversation_id, seq=seq, parent_seq=parent, answers_seq=answers, role=role
    )
