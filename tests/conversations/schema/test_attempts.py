"""An attempt is one row, ends once, and its exchange is recorded once per realm."""

import pytest

from access.models import Realm
from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def attempt(tree):
    insert("generation", conversation_id=tree, number=1, leaf_seq=4, message_seq=5)
    return tree


def change(sql):
    execute(f"UPDATE conversations_generation SET {sql}")


def test_one_row_for_an_attempt_of_a_request(attempt, make_conversation):
    with refused("conversations_generation_attempt_once"):
        insert("generation", conversation_id=attempt, number=2)

    insert("generation", conversation_id=attempt, number=2, attempt=2)
    insert("generation", conversation_id=make_conversation().pk, number=1)


def test_one_attempt_has_one_number(attempt):
    with refused("conversations_generation_pkey"):
        insert("generation", conversation_id=attempt, number=1, request_id="r-2")


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"attempt": 0}, "counts_from_one"),
        ({"number": 0}, "counts_from_one"),
        ({"status": "maybe", "finished_at": NOW}, "status_is_known"),
        ({"dialect": "klingon"}, "dialect_is_known"),
        ({"body_proof": "hearsay"}, "proof_is_known"),
        ({"match": "likely"}, "match_is_known"),
        ({"cost_confidence": "felt"}, "confidence_is_known"),
        ({"cost_usd": "0.01"}, "cost_has_confidence"),
        ({"cost_confidence": "exact"}, "cost_has_confidence"),
        ({"cost_usd": "-0.01", "cost_confidence": "exact"}, "cost_has_confidence"),
        ({"status": "complete"}, "end_has_a_time"),
        ({"finished_at": NOW}, "end_has_a_time"),
        ({"body_proof": "patched"}, "patched_has_patch"),
        ({"output_tokens": 5, "reasoning_tokens": 6}, "reasoning_is_output"),
    ],
)
def test_what_an_attempt_says_agrees(tree, columns, rule):
    row = {"conversation_id": tree, "number": 1, **columns}

    with refused(f"conversations_generation_{rule}"):
        insert("generation", **row)


def test_leaf_and_answer_are_messages_of_the_conversation(tree):
    with refused("conversations_generation_leaf"):
        insert("generation", conversation_id=tree, number=1, leaf_seq=77)
    with refused("conversations_generation_message"):
        insert("generation", conversation_id=tree, number=1, message_seq=77)


@pytest.mark.parametrize("later", ["streaming", "failed", "cancelled"])
def test_an_attempt_that_ended_stays_ended(attempt, later):
    change("status = 'complete', finished_at = now()")

    with refused("conversations_generation_ends_once"):
        change(f"status = '{later}', finished_at = {'NULL' if later == 'streaming' else 'now()'}")


def test_a_stream_is_not_queued_again(attempt):
    with refused("conversations_generation_ends_once"):
        change("status = 'queued'")


def test_tokens_and_cost_of_an_ended_attempt_may_be_corrected(attempt):
    change("status = 'interrupted', finished_at = now()")
    change("output_tokens = 105, cost_usd = 0.002, cost_confidence = 'exact'")

    assert fetch("SELECT status, output_tokens FROM conversations_generation") == [("interrupted", 105)]


def test_an_attempt_outlives_its_branch(tree):
    insert(
        "generation",
        conversation_id=tree,
        number=1,
        leaf_seq=1,
        message_seq=6,
        cost_usd="0.5",
        cost_confidence="exact",
    )

    execute("DELETE FROM conversations_message WHERE seq = 6")

    assert fetch("SELECT conversation_id, leaf_seq, message_seq FROM conversations_generation") == [
        (tree, 1, None)
    ]


def test_a_call_forgets_a_purged_attempt(attempt):
    execute("UPDATE conversations_toolcall SET generation_number = 1 WHERE call_id = 'call_0'")

    execute("DELETE FROM conversations_generation")

    assert fetch("SELECT conversation_id, generation_number FROM conversations_toolcall") == [
        (attempt, None),
        (attempt, None),
    ]


def test_a_call_names_an_attempt_that_exists(attempt):
    with refused("conversations_toolcall_generation"):
        execute("UPDATE conversations_toolcall SET generation_number = 9")


def test_an_exchange_id_is_used_once_in_a_realm(attempt, realm):
    insert("exchange", realm_id=realm.pk, exchange_id="x-1", conversation_id=attempt, number=1)

    with refused("conversations_exchange_pkey"):
        insert("exchange", realm_id=realm.pk, exchange_id="x-1", conversation_id=attempt, number=1)

    other = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    insert("exchange", realm_id=other.pk, exchange_id="x-1", conversation_id=attempt, number=1)


def test_an_exchange_is_of_an_attempt(attempt, realm):
    with refused("conversations_exchange_generation"):
        insert("exchange", realm_id=realm.pk, exchange_id="x-1", conversation_id=attempt, number=9)
