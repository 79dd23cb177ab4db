"""A part's bytes are there or they are not; once written they only ever get fewer."""

import pytest

from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, insert, refused

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True, databases=["default", "owner"])]

MATCH_STATE = "conversations_part_bytes_match_state"
ONLY_LOSES = "conversations_part_only_loses_bytes"
GONE = "text = NULL, payload = NULL, shell = NULL, blob_id = NULL, is_text_copy = false"


@pytest.fixture
def blob(realm):
    insert("blob", sha256=b"\1" * 32, storage_key="ab/abc")
    return fetch("SELECT id FROM conversations_blob")[0][0]


def part(conversation_id, **columns):
    row = {"conversation_id": conversation_id, "seq": 5, "ordinal": 1, "type": "text", **columns}
    insert("messagepart", **row)


def change(sql, using="default"):
    execute(f"UPDATE conversations_messagepart SET {sql} WHERE seq = 5 AND ordinal = 1", using=using)


def stored():
    return fetch(
        "SELECT bytes_state, text, payload FROM conversations_messagepart WHERE seq = 5 AND ordinal = 1"
    )


def test_two_parts_at_one_position_are_refused(tree):
    part(tree, text="first")

    with refused("conversations_messagepart_pkey"):
        part(tree, text="second")


def test_positions_count_from_zero(tree):
    with refused("conversations_part_ordinal_from_zero"):
        part(tree, ordinal=-1, text="x")


def test_a_part_of_no_message_is_refused(tree):
    with refused("conversations_part_of_a_message"):
        part(tree, seq=9, text="x")


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"type": "video", "text": "x"}, "conversations_part_type_is_known"),
        ({"bytes_state": "misplaced", "text": "x"}, MATCH_STATE),
        ({}, MATCH_STATE),
        ({"bytes_state": "redacted"}, MATCH_STATE),
        ({"bytes_state": "stripped", "text": "x"}, MATCH_STATE),
        ({"bytes_state": "archived", "payload": b"x"}, MATCH_STATE),
        ({"bytes_state": "erased", "shell": "{}"}, MATCH_STATE),
        ({"text": "x", "payload": b"x"}, "conversations_part_text_or_payload"),
    ],
)
def test_bytes_and_their_state_agree(tree, columns, rule):
    with refused(rule):
        part(tree, **columns)


def test_a_blob_counts_as_bytes(tree, blob):
    with refused(MATCH_STATE):
        part(tree, bytes_state="erased", blob_id=blob)
    with refused("conversations_part_text_or_payload"):
        part(tree, text="x", blob_id=blob)
    with refused("conversations_part_payload_or_blob"):
        part(tree, payload=b"x", blob_id=blob)

    part(tree, blob_id=blob)


def test_a_marked_copy_stands_beside_its_payload(tree):
    part(tree, text="be\ufffdfore", payload=b'"be\\u0000fore"', is_text_copy=True)

    assert stored() == [("present", "be\ufffdfore", b'"be\\u0000fore"')]


@pytest.mark.parametrize(
    "columns",
    [
        "seq = 4",
        "ordinal = 3",
        "type = 'thinking'",
        "provider_type = 'x'",
        "tool_call_id = 'x'",
        "tool_name = 'x'",
        "answers_seq = 2",
        "status = 'ok'",
        "orphan = true",
        "media_type = 'x'",
        "is_minted_id = true",
    ],
)
def test_a_part_is_written_once(tree, columns):
    part(tree, text="secret")

    with refused(PRIVILEGE):
        change(columns)
    with refused(ONLY_LOSES, using="owner"):
        change(columns, using="owner")


def test_a_part_is_not_deleted(tree):
    with refused(PRIVILEGE):
        execute("DELETE FROM conversations_messagepart")


@pytest.mark.parametrize(
    "columns",
    [
        "text = 'other words'",
        "shell = '{}'",
        "text = NULL, payload = 'x'",
        "is_text_copy = true",
        "bytes_state = 'redacted', text = NULL, payload = 'x'",
        "bytes_state = 'redacted', text = 'cut', shell = '{}'",
        "bytes_state = 'redacted', is_text_copy = true",
    ],
)
def test_bytes_are_not_replaced_by_others(tree, columns):
    part(tree, text="my words")

    with refused(ONLY_LOSES):
        change(columns)


@pytest.mark.parametrize("state", ["stripped", "archived", "erased"])
@pytest.mark.parametrize("columns", [{"text": "x", "shell": "{}"}, {"payload": b"x"}])
def test_bytes_may_go(tree, state, columns):
    part(tree, **columns)
    insert("archive", conversation_id=tree)

    change(f"bytes_state = '{state}', {GONE}")

    assert stored() == [(state, None, None)]


def test_bytes_in_a_blob_may_go(tree, blob):
    part(tree, blob_id=blob)

    change(f"bytes_state = 'stripped', {GONE}")

    assert stored() == [("stripped", None, None)]


def test_bytes_may_be_cut(tree):
    part(tree, text="card 4242 4242 4242 4242")

    change("bytes_state = 'redacted', text = 'card \u2588'")
    change(f"bytes_state = 'erased', {GONE}")

    assert stored() == [("erased", None, None)]


@pytest.mark.parametrize(
    ("state", "later"),
    [
        ("erased", "bytes_state = 'stripped'"),
        ("erased", "bytes_state = 'archived'"),
        ("stripped", "bytes_state = 'archived'"),
        ("stripped", "bytes_state = 'redacted', text = 'invented'"),
        ("archived", "bytes_state = 'redacted', text = 'invented'"),
        ("archived", "bytes_state = 'present', text = 'invented'"),
        ("erased", "bytes_state = 'present', payload = 'invented'"),
    ],
)
def test_what_is_gone_does_not_come_back(tree, state, later):
    part(tree, text="x")
    insert("archive", conversation_id=tree)
    change(f"bytes_state = '{state}', {GONE}")

    with refused(ONLY_LOSES):
        change(later)


def test_state_and_bytes_go_together(tree):
    part(tree, text="x")

    with refused(MATCH_STATE):
        change("bytes_state = 'stripped'")
    with refused(MATCH_STATE):
        change("bytes_state = 'redacted', text = NULL")


def test_a_blob_is_stored_once_per_digest_and_key(blob):
    with refused("conversations_blob_once_per_digest"):
        insert("blob", sha256=b"\1" * 32, storage_key="cd/cde")
    with refused("conversations_blob_storage_key_once"):
        insert("blob", sha256=b"\2" * 32, storage_key="ab/abc")
    with refused("conversations_blob_size_not_negative"):
        insert("blob", sha256=b"\2" * 32, storage_key="cd/cde", size=-1)


def test_a_blob_that_a_part_names_stays(tree, blob):
    part(tree, blob_id=blob)

    with refused(foreign_key("conversations_messagepart", "blob_id")):
        execute("DELETE FROM conversations_blob")


def foreign_key(table, column):
    """The name that Django gave the key."""
    return fetch(
        "SELECT conname FROM pg_constraint c"
        " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
        " WHERE c.contype = 'f' AND c.conrelid = %s::regclass"
        " AND a.attname = %s AND cardinality(c.conkey) = 1",
        table,
        column,
    )[0][0]


def test_a_fragment_is_stored_once_per_digest(realm):
    insert("fragment", sha256=b"\1" * 32)

    with refused("conversations_fragment_once_per_digest"):
        insert("fragment", sha256=b"\1" * 32)
    with refused("conversations_fragment_kind_is_known"):
        insert("fragment", sha256=b"\2" * 32, kind="gossip")


def test_a_raw_bodys_class_is_known(realm):
    with refused("conversations_rawbody_class_is_known"):
        insert("rawbody", id="019cd2e8-8620-745a-943e-d7568a45ad62", raw_class="gossip")
