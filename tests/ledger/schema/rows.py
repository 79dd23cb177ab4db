"""The ledger's rows as plain SQL, past every service, and what PostgreSQL says to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import DatabaseError, transaction

from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import execute, fetch, name_of

DEFAULTS: dict[str, dict[str, Any]] = {
    "tooleffect": {
        "call_id": "toolu_1",
        "tool_name": "charge_card",
        "operation": "charge",
        "idempotency_key": "k-1",
        "key_scope": "call",
        "key_counter": 1,
        "request_digest": b"\0" * 32,
        "processor": "stripe",
        "find_by": "{}",
        "state": "pending",
        "move": 1,
        "amount_minor": 1900,
        "currency": "usd",
        "requested_at": NOW,
    },
    "effectmove": {
        "moved_at": NOW,
        "moved_by_kind": "application",
        "source": "answer",
        "evidence_ref": "ch_1",
    },
    "effectreference": {"processor": "stripe", "kind": "charge", "reference": "ch_1", "seen_at": NOW},
    "effectuse": {"used_at": NOW},
    "compensation": {
        "origin": "counterfoil",
        "state": "requested",
        "amount_minor": 1000,
        "currency": "usd",
        "reason": "duplicate",
        "idempotency_key": "c-1",
        "requested_at": NOW,
        "known_at": NOW,
    },
    "contradiction": {
        "kind": "second_charge",
        "processor": "stripe",
        "reference": "ch_2",
        "status": "",
        "currency": "usd",
        "source": "webhook",
        "seen_at": NOW,
    },
    "toolpolicy": {
        "name": "charge_card",
        "effectful": "yes",
        "rule": "[]",
        "replay_policy": "ask",
        "key_scope": "branch_root",
        "operation": "charge",
        "processor": "stripe",
        "amount_path": "",
        "amount_unit": "minor",
        "currency_path": "",
        "updated_at": NOW,
    },
    "guardquestion": {
        "tool_name": "charge_card",
        "request_digest": b"\0" * 32,
        "reason": "same_arguments",
        "asked_at": NOW,
    },
    "dispute": {
        "processor": "stripe",
        "external_ref": "dp_1",
        "charge_ref": "ch_1",
        "status": "needs_response",
        "reason": "",
        "amount_minor": 1900,
        "currency": "usd",
        "opened_at": NOW,
        "seen_at": NOW,
        "known_at": NOW,
    },
}


def insert(table: str, **columns: Any) -> None:
    row = {**DEFAULTS[table], **columns}
    names, marks = ", ".join(row), ", ".join(["%s"] * len(row))
    execute(f"INSERT INTO ledger_{table} ({names}) VALUES ({marks})", *row.values())


def move(effect: UUID, number: int, before: str, after: str, **columns: Any) -> None:
    """A line of the history, and the state that it brings."""
    insert("effectmove", effect_id=effect, number=number, from_state=before, to_state=after, **columns)
    if number > 1:
        execute("UPDATE ledger_tooleffect SET state = %s, move = %s WHERE id = %s", after, number, effect)


def begin(effect: UUID, **columns: Any) -> None:
    """An effect as it begins, with its first line."""
    with transaction.atomic():
        insert("tooleffect", id=effect, **columns)
        move(effect, 1, "", "pending", source="begin", evidence_ref="")


def settle(effect: UUID) -> None:
    """What evidence of a charge writes."""
    with transaction.atomic():
        execute(
            "UPDATE ledger_tooleffect SET external_ref = 'ch_1', settled_at = %s, amount_settled_minor = 1900"
            " WHERE id = %s",
            NOW,
            effect,
        )
        move(effect, 2, "pending", "applied")


@contextmanager
def refused(rule: str, *, using: str = "default") -> Iterator[None]:
    """Expect that PostgreSQL refuses the transaction within, by the rule's name, and keeps none of it."""
    before = every_row()
    with pytest.raises(DatabaseError) as caught, transaction.atomic(using=using):
        yield
    assert name_of(caught.value) == rule
    assert every_row() == before


def every_row() -> dict[str, list[tuple[Any, ...]]]:
    tables = [model._meta.db_table for model in apps.get_app_config("ledger").get_models()]
    return {table: fetch(f"SELECT t::text FROM {table} t ORDER BY 1") for table in tables}
