"""Every result answers a call of the message it follows."""

import pytest

from tests.conversations.schema.conftest import add_result
from tests.conversations.schema.rows import execute, fetch, insert, message, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]


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
