from datetime import UTC, datetime

import pytest

from conversations.imports.trouble import RefusedFileError
from conversations.vocabulary import Role
from tests.conversations.imports.reading import lines, parents, planned, read_file, read_one, texts, write
from tests.conversations.imports.reading import said as words

CSV = """chat,role,text,time
c1,user,"Hello, there",2024-01-01T10:00:00Z
c2,human,Other chat,2024-01-01T10:00:01Z
c1,assistant,"Two
lines",2024-01-01T10:00:02Z
c1,assistant,"[tool_call] refund(1042)",2024-01-01T10:00:03Z
"""


def test_interleaved_rows_become_one_line_a_chat(tmp_path):
    found = read_file(write(tmp_path, CSV, "dump.csv"))

    first, second = found.conversations
    assert [one.external_ref for one in found.conversations] == ["table:c1", "table:c2"]
    assert texts(first) == [["Hello, there"], ["Two\nlines"], ["[tool_call] refund(1042)"]]
    assert parents(first) == {"1": None, "2": "1", "3": "2"}
    assert words(second.nodes[0]).role == Role.USER
    assert words(second.nodes[0]).provider_role == "human"
    assert first.notes == ["1 texts look like flattened tool calls; they stay prose"]


def test_json_lines_with_other_column_names_are_the_same(tmp_path):
    rows = lines(
        {"id": "b", "conversation_id": 7, "sender": "bot", "body": "late", "created_at": 1700000009},
        {"id": "a", "conversation_id": 7, "sender": "customer", "body": "early", "created_at": 1700000001},
    )

    conversation = read_one(tmp_path, rows, "dump.jsonl")

    assert conversation.external_ref == "table:7"
    assert parents(conversation) == {"a": None, "b": "a"}


def test_rows_that_name_their_parents_are_a_tree_whatever_their_order_and_times(tmp_path):
    rows = """chat,id,parent_id,role,text,created_at
x,c,b,user,Why?,2024-01-01T10:00:00Z
x,a,,user,Hi,2024-01-01T10:00:09Z
x,b,a,assistant,Hello,2024-01-01T10:00:05Z
x,b2,a,assistant,Hello again,2024-01-01T10:00:06Z
"""

    conversation = read_one(tmp_path, rows, "dump.csv")

    assert parents(conversation) == {"a": None, "b": "a", "b2": "a", "c": "b"}
    assert planned(conversation).findings == [
        "3 messages are older than what they answer; times kept as they are"
    ]


def test_a_parent_that_is_no_row_of_the_chat_makes_no_tree(tmp_path):
    rows = "chat,id,parent,role,text\nx,1,project-7,user,Hi\nx,2,project-7,assistant,Hello\n"

    assert parents(read_one(tmp_path, rows, "dump.csv")) == {"1": None, "2": "1"}


def test_rows_without_a_time_stay_where_they_stand(tmp_path):
    rows = "chat;role;text;time\nx;user;1;\nx;assistant;2;2024-01-01\nx;user;3;\n"

    assert texts(read_one(tmp_path, rows, "dump.csv")) == [["1"], ["2"], ["3"]]


def test_rows_that_cannot_be_read_are_named_and_the_rest_goes_in(tmp_path):
    rows = b"chat,role,text\nx,user,ok\nx,user\n,user,whose?\nx,ghost,boo\nx,user,\xff\n"

    found = read_file(write(tmp_path, rows, "dump.csv"))

    (conversation,) = found.conversations
    assert [(one.place, one.reason) for one in found.broken] == [
        ("dump.csv, line 3", "2 cells below a header of 3"),
        ("dump.csv, line 4", "a row of no chat"),
        ("dump.csv, line 6", "not UTF-8"),
    ]
    assert [node.trouble for node in planned(conversation).quarantined] == [
        "a row without a role that we know"
    ]


def test_a_header_written_by_a_spreadsheet_is_read(tmp_path):
    rows = "\ufeffChat;Role;Text\r\nx;user;caf\u00e9\r\n".encode()

    assert texts(read_one(tmp_path, rows, "dump.csv")) == [["caf\u00e9"]]


def test_a_header_in_quotes_behind_a_mark_of_byte_order_is_read(tmp_path):
    rows = b'\xef\xbb\xbf"chat","role","text"\r\n"x","user","ok"\r\n'

    assert texts(read_one(tmp_path, rows, "dump.csv")) == [["ok"]]


def test_a_spreadsheet_may_say_its_delimiter_first(tmp_path):
    rows = "sep=|\r\nchat|role|text\r\nx|user|a, b; c\r\nx|user\r\n"

    found = read_file(write(tmp_path, rows, "dump.csv"))

    assert texts(found.conversations[0]) == [["a, b; c"]]
    assert [(one.place, one.reason) for one in found.broken] == [
        ("dump.csv, line 4", "2 cells below a header of 3")
    ]


@pytest.mark.parametrize("name", ["dump", "dump.txt", "messages.bak"])
def test_a_table_is_told_by_its_rows_and_not_by_its_name(tmp_path, name):
    assert texts(read_one(tmp_path, "chat\trole\ttext\nx\tuser\tok, so\n", name)) == [["ok, so"]]


@pytest.mark.parametrize("text", ["One, two, three.\nAnd so on.\n", "a,b,c", "a;b;\nc;d;e\n", "no"])
def test_prose_is_taken_for_text(tmp_path, text):
    with pytest.raises(RefusedFileError, match="text, not JSON"):
        read_file(write(tmp_path, text, "notes.txt"))


@pytest.mark.parametrize(
    "header", ["Conversation ID,Role,Content,Created At", "conversationId,role,body,createdAt"]
)
def test_columns_are_known_however_their_names_are_written(tmp_path, header):
    conversation = read_one(tmp_path, f"{header}\nx,user,ok,2024-05-01 10:00:00.5+00\n", "dump.csv")

    assert texts(conversation) == [["ok"]]
    assert conversation.started_at == datetime(2024, 5, 1, 10, 0, 0, 500_000, tzinfo=UTC)


def test_times_in_a_form_that_nobody_knows_are_said(tmp_path):
    rows = "chat,role,text,time\nx,user,a,05/13/2024 10:00\nx,user,b,\nx,user,c,0\nx,user,d,yesterday\n"

    conversation = read_one(tmp_path, rows, "dump.csv")

    assert texts(conversation) == [["a"], ["b"], ["c"], ["d"]]
    assert conversation.notes == ["2 times are in no form that we know; they stay unknown"]
