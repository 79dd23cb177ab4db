from datetime import timedelta

import pytest

from conversations.drafts import MessageDraft
from conversations.reads.path import path_seqs, read_messages, read_path
from conversations.services.appending import append_message
from conversations.vocabulary import Role
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user
from tests.conversations.schema.rows import execute

pytestmark = pytest.mark.django_db


def append(conversation, message, **fields):
    return append_message(
        **{"conversation_id": conversation.pk, "message": message, "actor": CUSTOMER, "now": NOW, **fields}
    )


def read(conversation, leaf_seq):
    return read_path(conversation_id=conversation.pk, leaf_seq=leaf_seq)


@pytest.fixture
def line(conversation):
    """A line of four messages without a fork; what was written is kept in `said`."""
    conversation.said = [
        user(client_message_id="m-1", token_count=12, occurred_at=NOW - timedelta(seconds=5)),
        calls("call_0", "call_1"),
        results("call_0", "call_1"),
        assistant(is_hidden=True),
    ]
    for message in conversation.said:
        append(conversation, message)
    return conversation


def test_what_was_written_is_read(line):
    path = read(line, 4)

    assert [message.draft for message in path] == line.said
    assert [
        (message.seq, message.parent_seq, message.answers_seq, message.group_ordinal) for message in path
    ] == [
        (1, None, None, 1),
        (2, 1, None, 2),
        (3, 2, 2, 2),
        (4, 3, None, 4),
    ]
    assert {message.created_at for message in path} == {NOW}


def test_nothing_below_the_leaf_is_read(line):
    assert [message.draft for message in read(line, 2)] == line.said[:2]


def test_another_branch_is_not_read(line):
    append(line, assistant("Or so."), below=3)
    append(line, user("And then?"))

    assert [message.seq for message in read(line, 6)] == [1, 2, 3, 5, 6]
    assert [message.draft for message in read(line, 4)] == line.said
    assert path_seqs(conversation_id=line.pk, leaf_seq=6) == [1, 2, 3, 5, 6]


@pytest.mark.parametrize("has_fork", [False, True])
def test_a_leaf_that_is_not_there_has_no_path(line, has_fork):
    if has_fork:
        append(line, assistant("Or so."), below=3)

    assert read(line, 77) == []
    assert path_seqs(conversation_id=line.pk, leaf_seq=77) == []


def test_messages_are_read_by_number(line):
    found = read_messages(conversation_id=line.pk, seqs=[4, 1])

    assert [message.draft for message in found] == [line.said[0], line.said[3]]


def test_parts_that_lost_their_bytes_are_named(line):
    execute(
        "UPDATE conversations_messagepart SET bytes_state = 'stripped', payload = NULL"
        " WHERE seq = 2 AND ordinal = 1"
    )

    assert [message.lost_parts for message in read(line, 4)] == [[], [1], [], []]


def test_a_message_without_parts_is_on_the_path(line):
    append(line, MessageDraft(role=Role.ASSISTANT))

    assert [message.draft.parts for message in read(line, 5)][-1] == []


def test_a_path_costs_as_many_queries_however_long_it_is(line, django_assert_num_queries):
    # Where there is no fork, all that comes before the leaf.
    with django_assert_num_queries(1):
        read(line, 1)
    for _ in range(20):
        append(line, user())
    with django_assert_num_queries(1):
        read(line, 24)
    append(line, assistant("Or so."), below=3)
    # With a fork: nothing by that query, the numbers of the path, what they name.
    with django_assert_num_queries(3):
        read(line, 24)
