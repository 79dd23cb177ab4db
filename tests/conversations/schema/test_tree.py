"""Messages hang below messages of their own conversation that were written before them."""

import pytest
from django.db import OperationalError, transaction

from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]


def has_fork(conversation_id):
    return fetch("SELECT has_fork FROM conversations_conversation WHERE id = %s", conversation_id) == [
        (True,)
    ]


def test_a_repeated_client_id_is_refused(tree, make_conversation):
    insert("message", conversation_id=tree, seq=7, parent_seq=5, client_message_id="m-1")

    with refused("conversations_message_client_id_once"):
        insert("message", conversation_id=tree, seq=8, parent_seq=7, client_message_id="m-1")

    # It is the conversation's own: another one may use it.
    insert("message", conversation_id=make_conversation().pk, seq=1, client_message_id="m-1")


def test_two_messages_with_one_number_are_refused(tree):
    with refused("conversations_message_pkey"):
        insert("message", conversation_id=tree, seq=5, parent_seq=4)


def test_numbers_count_from_one(empty):
    with refused("conversations_message_seq_counts_from_one"):
        insert("message", conversation_id=empty, seq=0)


@pytest.mark.parametrize("parent", [7, 8])
def test_a_parent_that_does_not_come_before_is_refused(tree, parent):
    with refused("conversations_message_parent_comes_before"):
        insert("message", conversation_id=tree, seq=7, parent_seq=parent)


def test_a_parent_that_does_not_exist_is_refused(tree):
    with refused("conversations_message_parent_in_conversation"):
        insert("message", conversation_id=tree, seq=9, parent_seq=8)


def test_a_parent_in_another_conversation_is_refused(tree, make_conversation):
    with refused("conversations_message_parent_in_conversation"):
        insert("message", conversation_id=make_conversation().pk, seq=7, parent_seq=5)


@pytest.mark.parametrize(("seq", "parent"), [(2, 6), (1, 5), (4, 4)])
def test_a_cycle_cannot_be_made_afterwards(tree, seq, parent):
    sql = f"UPDATE conversations_message SET parent_seq = {parent} WHERE seq = {seq}"

    with refused(PRIVILEGE):
        execute(sql)
    with refused("conversations_message_only_loses_bytes", using="owner"):
        execute(sql, using="owner")


def test_a_cycle_within_one_statement_is_refused(empty):
    with refused("conversations_message_parent_comes_before"):
        execute(
            "INSERT INTO conversations_message"
            " (conversation_id, seq, parent_seq, role, branch_reason, created_at) VALUES"
            " (%s, 1, 2, 'user', 'continue', now()), (%s, 2, 1, 'user', 'continue', now())",
            empty,
            empty,
        )


def test_a_message_without_a_role_is_refused(tree):
    with refused("conversations_message.role"):
        insert("message", conversation_id=tree, seq=7, parent_seq=5, role=None)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"role": ""}, "conversations_message_role_is_known"),
        ({"role": "narrator"}, "conversations_message_role_is_known"),
        ({"branch_reason": "whim"}, "conversations_message_branch_reason_is_known"),
        ({"dialect": "klingon"}, "conversations_message_dialect_is_known"),
    ],
)
def test_closed_lists_are_closed(tree, change, rule):
    with refused(rule):
        insert("message", conversation_id=tree, seq=7, parent_seq=5, **change)


@pytest.mark.parametrize(
    "change",
    [
        "role = 'assistant'",
        "parent_seq = NULL",
        "answers_seq = NULL",
        "path_digest = ''",
        "client_message_id = 'm-9'",
        "token_count = 3",
        "occurred_at = now()",
        "created_at = now()",
        "is_hidden = true",
        "branch_reason = 'user_edit'",
        "provider_role = 'bot'",
        "seq = 9",
    ],
)
def test_a_message_is_written_once(tree, change):
    sql = f"UPDATE conversations_message SET {change} WHERE seq = 3"

    with refused(PRIVILEGE):
        execute(sql)
    with refused("conversations_message_only_loses_bytes", using="owner"):
        execute(sql, using="owner")


def test_a_message_may_lose_its_shell_and_get_no_other(tree):
    columns = {"seq": 7, "parent_seq": 5, "shell": '{"role":"user"}'}
    insert("message", conversation_id=tree, **columns)

    with refused("conversations_message_only_loses_bytes"):
        execute("UPDATE conversations_message SET shell = '{}' WHERE seq = 7")
    with refused("conversations_message_only_loses_bytes"):
        execute("UPDATE conversations_message SET shell = '{}' WHERE seq = 5")
    execute("UPDATE conversations_message SET shell = NULL WHERE seq = 7")

    assert fetch("SELECT shell FROM conversations_message WHERE seq = 7") == [(None,)]


def test_an_only_child_makes_no_fork(empty):
    insert("message", conversation_id=empty, seq=1)
    insert("message", conversation_id=empty, seq=2, parent_seq=1)

    assert not has_fork(empty)


def test_two_children_make_a_fork(empty):
    with transaction.atomic():
        insert("message", conversation_id=empty, seq=1)
        insert("message", conversation_id=empty, seq=2, parent_seq=1)
        insert("message", conversation_id=empty, seq=3, parent_seq=1)

    assert has_fork(empty)


def test_two_roots_make_a_fork(empty):
    insert("message", conversation_id=empty, seq=1)
    insert("message", conversation_id=empty, seq=2)

    assert has_fork(empty)


def test_two_writers_of_siblings_wait_for_one_another(tree):
    """Else neither would see the fork that they make together."""
    sibling = (
        "SET lock_timeout = '200ms';"
        "INSERT INTO conversations_message"
        " (conversation_id, seq, parent_seq, role, branch_reason, created_at)"
        f" VALUES ('{tree}', 8, 5, 'user', 'continue', now())"
    )
    with transaction.atomic():
        insert("message", conversation_id=tree, seq=7, parent_seq=5)
        with pytest.raises(OperationalError, match="lock timeout"):
            execute(sibling, using="owner")


def test_a_fork_stays_a_fork(tree):
    assert has_fork(tree)

    with refused("conversations_conversation_counters_grow"):
        execute("UPDATE conversations_conversation SET has_fork = false")
    execute("DELETE FROM conversations_message WHERE seq = 6")

    assert has_fork(tree)


@pytest.mark.parametrize("rule", ["source", "replay_obstacle"])
def test_a_conversations_lists_are_closed(tree, rule):
    name = {"source": "source_is_known", "replay_obstacle": "obstacle_is_known"}[rule]

    with refused(f"conversations_conversation_{name}"):
        execute(f"UPDATE conversations_conversation SET {rule} = 'hearsay'")


def test_an_account_has_one_conversation_with_an_external_ref(make_conversation, make_account):
    make_conversation(external_ref="ticket-7")
    second = make_conversation()
    elsewhere = make_conversation(account_id=make_account().pk)

    with refused("conversations_conversation_external_ref_once"):
        execute("UPDATE conversations_conversation SET external_ref = 'ticket-7' WHERE id = %s", second.pk)
    execute("UPDATE conversations_conversation SET external_ref = 'ticket-7' WHERE id = %s", elsewhere.pk)


def test_a_realm_has_one_account_with_an_external_id(make_account):
    make_account(external_id="c-1")
    second = make_account(external_id="c-2")

    with refused("conversations_account_external_id_once_per_realm"):
        execute("UPDATE conversations_account SET external_id = 'c-1' WHERE id = %s", second.pk)
