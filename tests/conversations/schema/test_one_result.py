"""No call is answered twice on one path."""

import pytest
from django.db import transaction

from tests.conversations.schema.conftest import add_result, add_text
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, message, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]


TWO_RESULTS = "conversations_part_one_result_per_path"


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
