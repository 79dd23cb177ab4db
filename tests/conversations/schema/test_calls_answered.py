"""No call is passed over where the path goes on."""

import pytest
from django.db import transaction

from tests.conversations.schema.conftest import add_call, add_result
from tests.conversations.schema.rows import execute, fetch, insert, message, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]


PASSED_OVER = "conversations_message_calls_are_answered"


@pytest.fixture
def asked(empty):
    """Message 2 makes one call, and nothing follows."""
    with transaction.atomic():
        message(empty, 1, None)
        message(empty, 2, 1, role="assistant")
        add_call(empty, seq=2, ordinal=0, call_id="call_0")
    return empty


def test_a_call_left_unanswered_is_legal_at_the_end_of_a_branch(asked):
    assert fetch("SELECT call_id FROM conversations_toolcall") == [("call_0",)]


def test_going_on_without_the_answer_is_refused(asked):
    with refused(PASSED_OVER):
        message(asked, 3, 2)


def test_going_on_with_one_of_two_answers_is_refused(tree):
    # Message 3 answers the first of two calls; the branch below it lacks the second.
    with refused(PASSED_OVER):
        message(tree, 7, 3, role="assistant")


def test_an_answering_message_without_its_results_does_not_let_the_path_go_on(asked):
    message(asked, 3, 2, answers=2)

    with refused(PASSED_OVER):
        message(asked, 4, 3, role="assistant")


def test_a_whole_turn_in_one_transaction_is_judged_at_its_end(asked):
    with transaction.atomic():
        message(asked, 3, 2, answers=2)
        message(asked, 4, 3, role="assistant")
        add_result(asked, seq=3, answers=2, call_id="call_0")

    assert fetch("SELECT count(*) FROM conversations_message") == [(4,)]


def test_rows_of_one_statement_are_judged_like_rows_of_many(tree):
    go_on = (
        "INSERT INTO conversations_message"
        " (conversation_id, seq, parent_seq, role, branch_reason, created_at)"
        " SELECT %s, seq, parent, 'user', 'continue', now()"
        " FROM unnest(%s::int[], %s::int[]) AS n(seq, parent)"
    )
    execute(go_on, tree, [7, 8, 9], [5, 7, 8])

    with refused(PASSED_OVER):
        # The last goes on below message 3, which answers the first of two calls.
        execute(go_on, tree, [10, 11, 12], [9, 10, 3])


def test_calls_of_one_statement_are_judged_like_rows_of_many(tree):
    with refused(PASSED_OVER):
        for ordinal in (2, 3):
            insert(
                "messagepart",
                conversation_id=tree,
                seq=2,
                ordinal=ordinal,
                type="tool_use",
                tool_call_id=f"call_{ordinal}",
                tool_name="f",
                payload=b"{}",
            )
        execute(
            "INSERT INTO conversations_toolcall"
            " (conversation_id, seq, ordinal, call_id, name, status, requested_at)"
            " SELECT %s, 2, n, 'call_' || n, 'f', CASE n WHEN 2 THEN 'unanswered' ELSE 'requested' END, now()"
            " FROM generate_series(2, 3) n",
            tree,
        )


def test_a_call_added_later_to_a_message_that_was_passed_is_refused(tree):
    with refused(PASSED_OVER):
        add_call(tree, seq=2, ordinal=2, call_id="call_2")


def test_a_call_added_later_to_an_answering_message_that_was_passed_is_refused(tree):
    with refused(PASSED_OVER):
        add_call(tree, seq=4, ordinal=1, call_id="call_2")


def test_a_passed_over_call_that_says_so_is_kept(tree):
    with transaction.atomic():
        add_call(tree, seq=2, ordinal=2, call_id="call_2", status="unanswered")

    with refused(PASSED_OVER):
        execute("UPDATE conversations_toolcall SET status = 'requested' WHERE call_id = 'call_2'")


def test_a_call_at_the_end_may_count_again(asked):
    execute("UPDATE conversations_toolcall SET status = 'unanswered'")
    execute("UPDATE conversations_toolcall SET status = 'requested'")

    assert fetch("SELECT status FROM conversations_toolcall") == [("requested",)]


def test_calls_that_came_later_to_a_message_that_was_passed_are_refused_whatever_else_it_says(asked):
    with transaction.atomic():
        message(asked, 3, 2, answers=2)
        add_result(asked, seq=3, answers=2, call_id="call_0")
        message(asked, 4, 3, role="assistant")
        execute("UPDATE conversations_toolcall SET status = 'succeeded'")

    with refused(PASSED_OVER):
        add_call(asked, seq=2, ordinal=1, call_id="call_1")
