"""A summary covers one stretch of one path; a chunk is a span of a part that has its bytes."""

from uuid import UUID

import pytest

from tests.conversations.schema.rows import execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

SUMMARY = UUID("019cd2e8-8620-745a-943e-d7568a45ad62")


def summary(conversation_id, from_seq, to_seq, **columns):
    insert(
        "summary", id=SUMMARY, conversation_id=conversation_id, from_seq=from_seq, to_seq=to_seq, **columns
    )


def chunk(conversation_id, **columns):
    insert("chunk", **{"id": SUMMARY, "conversation_id": conversation_id, "seq": 5, "ordinal": 0, **columns})


@pytest.mark.parametrize(("from_seq", "to_seq"), [(1, 5), (2, 4), (6, 6), (1, 6)])
def test_a_stretch_of_one_path_is_taken(tree, from_seq, to_seq):
    summary(tree, from_seq, to_seq)

    assert fetch("SELECT from_seq, to_seq FROM conversations_summary") == [(from_seq, to_seq)]


@pytest.mark.parametrize(("from_seq", "to_seq"), [(2, 6), (5, 6), (1, 77), (5, 1), (77, 77)])
def test_a_range_that_is_no_path_is_refused(tree, from_seq, to_seq):
    before = fetch("SELECT count(*) FROM conversations_message")
    rules = {
        (5, 1): "conversations_summary_is_on_one_path",
        (77, 77): "conversations_summary_begins_in_conversation",
    }

    with refused(rules.get((from_seq, to_seq), "conversations_summary_is_on_one_path")):
        summary(tree, from_seq, to_seq)

    assert fetch("SELECT count(*) FROM conversations_message") == before


def test_a_range_in_another_conversation_is_refused(tree, make_conversation):
    with refused("conversations_summary_is_on_one_path"):
        summary(make_conversation().pk, 1, 5)


def test_a_summary_is_not_stretched_off_its_path(tree):
    summary(tree, 2, 4)

    with refused("conversations_summary_is_on_one_path"):
        execute("UPDATE conversations_summary SET to_seq = 6")


def test_a_summary_goes_with_a_message_of_its_stretch(tree):
    summary(tree, 1, 6)

    execute("DELETE FROM conversations_message WHERE seq = 6")

    assert fetch("SELECT count(*) FROM conversations_summary") == [(0,)]


def test_what_was_derived_from_bytes_goes_with_them(tree):
    summary(tree, 1, 5)
    chunk(tree)

    execute("UPDATE conversations_messagepart SET bytes_state = 'erased', text = NULL WHERE type = 'text'")

    assert fetch("SELECT text, invalidated_at IS NULL FROM conversations_summary") == [("", False)]
    assert fetch("SELECT count(*) FROM conversations_chunk") == [(0,)]


def test_a_calls_derived_arguments_go_with_its_bytes(tree):
    execute('UPDATE conversations_toolcall SET arguments = \'{"email":"ada@example.org"}\'')

    execute(
        "UPDATE conversations_messagepart SET bytes_state = 'erased', payload = NULL WHERE type = 'tool_use'"
        " AND tool_call_id = 'call_0'"
    )

    assert fetch("SELECT call_id, arguments IS NULL FROM conversations_toolcall ORDER BY 1") == [
        ("call_0", True),
        ("call_1", False),
    ]


def test_an_invalid_summary_has_no_text(tree):
    with refused("conversations_summary_invalid_has_no_text"):
        summary(tree, 1, 5, invalidated_at="2026-03-09T14:03:00Z")


def test_a_chunk_of_no_part_is_refused(tree):
    with refused("conversations_chunk_of_a_part"):
        chunk(tree, ordinal=7)


def test_a_chunk_covers_something(tree):
    with refused("conversations_chunk_span_is_not_empty"):
        chunk(tree, byte_end=0)


def test_a_span_is_cut_once_per_version(tree):
    chunk(tree)

    with refused("conversations_chunk_span_once"):
        chunk(tree, id=UUID(int=1))
