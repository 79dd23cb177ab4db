"""A call has a row and a tool, and keeps to its id."""

import pytest
from django.db import transaction

from tests.conversations.schema.conftest import add_call
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]


@pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
def test_an_anonymous_call_or_result_is_refused(tree, kind):
    with refused("conversations_part_call_is_identified"):
        insert(
            "messagepart",
            conversation_id=tree,
            seq=4,
            ordinal=1,
            type=kind,
            tool_name="get_order",
            payload=b"{}",
            answers_seq=2 if kind == "tool_result" else None,
        )


def test_a_call_of_no_tool_is_refused(tree):
    with refused("conversations_part_call_is_named"):
        insert(
            "messagepart",
            conversation_id=tree,
            seq=5,
            ordinal=1,
            type="tool_use",
            tool_call_id="call_2",
            payload=b"{}",
        )


def test_a_call_part_without_its_row_is_refused(tree):
    with refused("conversations_part_call_has_its_row"):
        insert(
            "messagepart",
            conversation_id=tree,
            seq=5,
            ordinal=2,
            type="tool_use",
            tool_call_id="call_2",
            tool_name="f",
            payload=b"{}",
        )


def test_a_row_without_its_call_part_is_refused(tree):
    with refused("conversations_toolcall_has_its_part"):
        insert("toolcall", conversation_id=tree, seq=5, ordinal=7, call_id="ghost")


@pytest.mark.parametrize(
    ("seq", "ordinal", "call_id"),
    [(5, 0, "call_0"), (3, 0, "call_0"), (2, 1, "call_9")],
    ids=["a text", "a result", "a call of another id"],
)
def test_a_row_of_what_is_no_such_call_is_refused(tree, seq, ordinal, call_id):
    with refused("conversations_toolcall_has_its_part"):
        insert("toolcall", conversation_id=tree, seq=seq, ordinal=ordinal, call_id=call_id)


def test_a_call_row_cannot_become_that_of_another_call(tree):
    with refused(PRIVILEGE):
        execute("UPDATE conversations_toolcall SET ordinal = 3 WHERE call_id = 'call_1'")
    with refused("conversations_toolcall_keeps_its_name", using="owner"):
        execute("UPDATE conversations_toolcall SET ordinal = 3 WHERE call_id = 'call_1'", using="owner")


def test_a_call_row_cannot_be_taken_from_its_part(tree):
    with refused(PRIVILEGE):
        execute("DELETE FROM conversations_toolcall WHERE call_id = 'call_1'")
    with refused("conversations_part_call_has_its_row", using="owner"):
        execute("DELETE FROM conversations_toolcall WHERE call_id = 'call_1'", using="owner")


def test_a_call_id_twice_in_one_message_is_refused(tree):
    with refused("conversations_toolcall_pkey"):
        add_call(tree, seq=2, ordinal=2, call_id="call_1")


def test_a_call_id_may_return_in_another_message(tree):
    with transaction.atomic():
        add_call(tree, seq=5, ordinal=1, call_id="call_1")

    assert fetch("SELECT seq FROM conversations_toolcall WHERE call_id = 'call_1' ORDER BY 1") == [(2,), (5,)]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ("status = 'lost'", "conversations_toolcall_status_is_known"),
        ("duration_ms = -1", "conversations_toolcall_duration_not_negative"),
    ],
)
def test_a_calls_life_keeps_to_its_lists(tree, change, rule):
    with refused(rule):
        execute(f"UPDATE conversations_toolcall SET {change}")
