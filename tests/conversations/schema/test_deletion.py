"""One DELETE takes all that belongs to a conversation, an account or a branch, and nothing else."""

import pytest
from django.db import transaction

from tests.conversations.schema.conftest import add_text, move_head
from tests.conversations.schema.rows import every_row, execute, fetch, insert

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

SUMMARY = "019cd2e8-8620-745a-943e-d7568a45ad62"
KEPT = "019cd2e8-8620-745a-943e-d7568a45ad63"


@pytest.fixture
def full(tree, account, realm):
    """Something in every table that belongs to the conversation."""
    insert("generation", conversation_id=tree, number=1, leaf_seq=4, message_seq=5)
    insert("exchange", realm_id=realm.pk, exchange_id="x-1", conversation_id=tree, number=1)
    insert("summary", id=SUMMARY, conversation_id=tree, from_seq=1, to_seq=5)
    insert("chunk", id=SUMMARY, conversation_id=tree, seq=5, ordinal=0)
    insert("rawbody", id=SUMMARY, raw_class="stream", conversation_id=tree, account_id=account.pk)
    execute("UPDATE conversations_toolcall SET generation_number = 1")
    return tree


@pytest.fixture
def neighbour(make_account, make_conversation):
    """Another account's conversation, which must not be touched."""
    other = make_conversation(account_id=make_account().pk)
    with transaction.atomic():
        insert("message", conversation_id=other.pk, seq=1)
        add_text(other.pk, seq=1)
        move_head(other.pk, number=1, seq=1)
    insert("rawbody", id=KEPT, raw_class="webhook")
    return other


def counts():
    return {table.removeprefix("conversations_"): len(rows) for table, rows in every_row().items() if rows}


LEFT = {"account": 1, "conversation": 1, "message": 1, "messagepart": 1, "headmove": 1, "rawbody": 1}


def test_a_conversation_goes_in_one_delete(full, neighbour):
    execute("DELETE FROM conversations_conversation WHERE id = %s", full)

    assert counts() == {**LEFT, "account": 2}


def test_an_account_goes_in_one_delete(full, neighbour, account):
    execute("DELETE FROM conversations_account WHERE id = %s", account.pk)

    assert counts() == LEFT


def test_a_conversation_goes_while_checks_are_still_due(full):
    with transaction.atomic():
        insert("message", conversation_id=full, seq=7, parent_seq=5, role="assistant")
        add_text(full, seq=7)
        move_head(full, number=2, seq=7)
        execute("DELETE FROM conversations_conversation WHERE id = %s", full)

    assert counts() == {"account": 1}


def test_a_branch_that_is_not_live_goes_in_one_delete(full):
    with transaction.atomic():
        move_head(full, number=2, seq=6)

    execute("DELETE FROM conversations_message WHERE seq = 2")

    assert fetch("SELECT seq FROM conversations_message ORDER BY 1") == [(1,), (6,)]
    assert counts() == {
        "account": 1,
        "conversation": 1,
        "message": 2,
        "headmove": 2,
        "generation": 1,
        "exchange": 1,
        "rawbody": 1,
    }
