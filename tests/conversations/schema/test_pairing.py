"""Every result answers a call of the message it follows; none is passed over, none answered twice."""

import pytest
from django.db import transaction

from tests.conversations.schema.conftest import add_call, add_result, add_text
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]

PASSED_OVER = "conversations_message_calls_are_answered"
TWO_RESULTS = "conversations_part_one_result_per_path"


def message(conversation_id, seq, parent, *, answers=None, role="user"):
    insert(
        "message", conversation_id=conversation_id, seq=seq, parent_seq=parent, answers_seq=answers, role=role
    )


@pytest.fixture
def asked(empty):
    """Message 2 makes one call, and nothing follows."""
    with transaction.atomic():
        message(empty, 1, None)
        message(empty, 2, 1, role="assistant")
        add_call(empty, seq=2, ordinal=0, call_id="call_0")
    return empty


def test_a_message_cannot_answer_calls_two_turns_back(tree):
    with refused("conversations_message_answers_the_one_before"):
        message(tree, 7, 5, answers=2)


def test_a_message_without_a_parent_answers_nothing(empty):
    with refused("conversations_message_answers_its_path"):
        message(empty, 2, None, answers=1)


def test_a_message_does_not_answer_one_after_its_parent(tree):
    with refused("conversations_message_answers_its_path"):
        message(tree, 8, 5, answers=6)


def test_a_result_whose_call_its_message_does_not_answer_is_refused(tree):
    with refused("conversations_part_result_has_its_call"):
        add_result(tree, seq=4, ordinal=1, answers=2, call_id="call_9")


def test_a_result_in_a_message_that_answers_nothing_is_refused(tree):
    with refused("conversations_part_answers_with_its_message"):
        add_result(tree, seq=5, ordinal=1, answers=2, call_id="call_1")


def test_a_result_that_names_no_message_is_refused(tree):
    with refused("conversations_part_result_answers_a_call"):
        insert(
            "messagepart",
            conversation_id=tree,
            seq=4,
            ordinal=1,
            type="tool_result",
            tool_call_id="call_1",
            payload=b"{}",
        )


def test_a_text_that_answers_is_refused(tree):
    with refused("conversations_part_result_answers_a_call"):
        insert("messagepart", conversation_id=tree, seq=4, ordinal=1, type="text", text="ok", answers_seq=2)


def test_a_result_does_not_come_before_its_call(tree):
    with refused("conversations_part_call_comes_before"):
        add_result(tree, seq=2, ordinal=2, answers=2, call_id="call_1")


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


def test_an_orphan_is_outside_the_pairing(tree):
    for ordinal, kind in enumerate(("tool_result", "tool_use", "tool_use"), start=1):
        insert(
            "messagepart",
            conversation_id=tree,
            seq=5,
            ordinal=ordinal,
            type=kind,
            tool_call_id="gone",
            tool_name="f",
            payload=b"{}",
            orphan=True,
        )

    assert fetch("SELECT count(*) FROM conversations_messagepart WHERE orphan") == [(3,)]
    assert fetch("SELECT call_id FROM conversations_toolcall WHERE call_id = 'gone'") == []


@pytest.mark.parametrize("status", ["unknown", "", "succeeded"])
def test_a_results_status_is_ok_or_error(tree, status):
    with refused("conversations_part_status_is_a_results"):
        execute(
            "INSERT INTO conversations_messagepart (conversation_id, seq, ordinal, type, tool_call_id,"
            " payload, orphan, status) VALUES (%s, 5, 1, 'tool_result', 'x', '', true, %s)",
            tree,
            status[:5],
        )


def test_only_results_have_a_status(tree):
    with refused("conversations_part_status_is_a_results"):
        insert("messagepart", conversation_id=tree, seq=5, ordinal=1, type="text", text="x", status="ok")


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


def test_two_results_in_one_message_are_refused(tree):
    with refused(TWO_RESULTS):
        add_result(tree, seq=3, ordinal=1, answers=2, call_id="call_0")


def test_a_second_result_further_down_the_path_is_refused(tree):
    with refused(TWO_RESULTS):
        add_result(tree, seq=4, ordinal=1, answers=2, call_id="call_0")


def test_a_second_result_further_up_the_path_is_refused(tree):
    with refused(TWO_RESULTS):
        add_result(tree, seq=3, ordinal=1, answers=2, call_id="call_1")


def test_two_branches_may_each_answer(tree):
    with transaction.atomic():
        message(tree, 7, 2, answers=2)
        add_result(tree, seq=7, ordinal=0, answers=2, call_id="call_0")
        add_result(tree, seq=7, ordinal=1, answers=2, call_id="call_1")
        message(tree, 8, 7, role="assistant")
        add_text(tree, seq=8)

    assert fetch("SELECT seq FROM conversations_messagepart WHERE tool_call_id = 'call_0' ORDER BY 1") == [
        (2,),
        (3,),
        (7,),
    ]


def test_a_result_cannot_be_deleted_from_under_the_path(tree):
    with refused(PRIVILEGE):
        execute("DELETE FROM conversations_messagepart WHERE type = 'tool_result'")


def test_groups_ascend_on_every_path(tree):
    assert fetch("SELECT seq, group_ordinal FROM conversations_message ORDER BY seq") == [
        (1, 1),
        (2, 2),
        (3, 2),
        (4, 2),
        (5, 5),
        (6, 6),
    ]
