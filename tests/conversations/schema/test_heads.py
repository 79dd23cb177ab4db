"""A head is a message of its own conversation, and the one last logged; the log only grows."""

from datetime import timedelta

import pytest
from django.db import transaction

from conversations.models import Conversation, HeadMove
from tests.conversations.conftest import NOW
from tests.conversations.schema.conftest import move_head
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]


def set_head(conversation_id, *, seq, move):
    execute(
        "UPDATE conversations_conversation SET head_seq = %s, head_move = %s WHERE id = %s",
        seq,
        move,
        conversation_id,
    )


def test_the_head_moves_with_its_line(tree):
    with transaction.atomic():
        move_head(tree, number=2, seq=6)

    assert fetch("SELECT head_seq, head_move FROM conversations_conversation") == [(6, 2)]


def test_a_head_that_is_no_message_is_refused(tree):
    with refused("conversations_conversation_head_is_its_own"):
        move_head(tree, number=2, seq=77)


def test_a_head_in_another_conversation_is_refused(tree, make_conversation):
    other = make_conversation()

    with refused("conversations_conversation_head_is_its_own"):
        move_head(other.pk, number=1, seq=5)


def test_a_head_that_is_not_logged_is_refused(tree):
    with refused("conversations_conversation_head_has_its_line"):
        set_head(tree, seq=6, move=1)


def test_a_first_head_without_a_number_is_refused(tree, empty, make_conversation):
    other = make_conversation()
    insert("message", conversation_id=other.pk, seq=1)

    with refused("conversations_conversation_head_is_logged"):
        set_head(other.pk, seq=1, move=None)


def test_a_head_that_is_not_the_one_last_logged_is_refused(tree):
    with refused("conversations_headmove_last_is_the_head"):
        insert("headmove", conversation_id=tree, number=2, head_seq=6)


def test_the_head_cannot_go_back_to_an_earlier_line(tree):
    with transaction.atomic():
        move_head(tree, number=2, seq=6)

    with refused("conversations_conversation_counters_grow"):
        set_head(tree, seq=5, move=1)
    with refused("conversations_conversation_counters_grow"):
        set_head(tree, seq=None, move=None)


@pytest.mark.parametrize("counter", ["next_seq", "next_generation"])
def test_counters_only_grow(tree, counter):
    execute(f"UPDATE conversations_conversation SET {counter} = 7")

    with refused("conversations_conversation_counters_grow"):
        execute(f"UPDATE conversations_conversation SET {counter} = 6")


def test_a_gap_in_the_log_is_refused(tree):
    with refused("conversations_headmove_no_gap"):
        move_head(tree, number=3, seq=6)


def test_the_log_starts_at_one(empty):
    with refused("conversations_headmove_number_counts_from_one"):
        insert("headmove", conversation_id=empty, number=0, head_seq=1)


def test_two_moves_with_one_number_are_refused(tree):
    with refused("conversations_headmove_pkey"):
        insert("headmove", conversation_id=tree, number=1, head_seq=5)


def test_times_that_run_backwards_are_refused(tree):
    with refused("conversations_headmove_times_ascend"):
        insert(
            "headmove", conversation_id=tree, number=2, head_seq=6, moved_at=NOW - timedelta(microseconds=1)
        )


def test_times_that_run_backwards_are_refused_whatever_the_order_of_the_rows(tree):
    with refused("conversations_headmove_no_gap"):
        execute(
            "INSERT INTO conversations_headmove"
            " (conversation_id, number, head_seq, reason, moved_by_kind, moved_at)"
            " VALUES (%s, 3, 5, 'switch', 'customer', %s), (%s, 2, 6, 'switch', 'customer', %s)",
            tree,
            NOW + timedelta(hours=1),
            tree,
            NOW + timedelta(hours=2),
        )


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"reason": "because"}, "conversations_headmove_reason_is_known"),
        ({"moved_by_kind": "nobody"}, "conversations_headmove_actor_is_known"),
    ],
)
def test_reasons_and_actors_are_closed_lists(tree, change, rule):
    with refused(rule):
        insert("headmove", conversation_id=tree, number=2, head_seq=6, **change)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE conversations_headmove SET reason = 'switch'",
        "UPDATE conversations_headmove SET moved_at = now()",
        "DELETE FROM conversations_headmove",
    ],
)
def test_the_log_is_neither_edited_nor_deleted(tree, sql):
    with refused(PRIVILEGE):
        execute(sql)
    # Nor by a slip of the tables' owner.
    with refused("conversations_headmove_append_only", using="owner"):
        execute(sql, using="owner")


@pytest.mark.parametrize(
    "table", ["headmove", "conversation", "message", "messagepart", "toolcall", "account"]
)
def test_the_application_truncates_nothing(tree, table):
    with refused(PRIVILEGE):
        execute(f"TRUNCATE conversations_{table} CASCADE")


def test_the_message_of_the_head_cannot_be_deleted(tree):
    with refused("conversations_conversation_head_is_its_own"):
        execute("DELETE FROM conversations_message WHERE seq = 5")


def test_the_log_goes_with_its_conversation(tree):
    Conversation.objects.filter(pk=tree).delete()

    assert not HeadMove.objects.exists()


def test_the_log_outlives_a_branch(tree):
    with transaction.atomic():
        move_head(tree, number=2, seq=6)

    execute("DELETE FROM conversations_message WHERE seq = 2")

    assert fetch("SELECT number, head_seq FROM conversations_headmove ORDER BY 1") == [(1, 5), (2, 6)]
