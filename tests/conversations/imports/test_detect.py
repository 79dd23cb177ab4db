import gzip
import json
import random
import zipfile

import pytest

from conversations.imports.detect import detect_format
from conversations.imports.streams import open_documents
from conversations.imports.trouble import RefusedFileError
from tests.conversations.imports.reading import lines, read_file, write

REFUSED = {
    "a Chatbot UI export": {"version": 4, "history": [], "folders": []},
    "a Google AI Studio prompt": {"runSettings": {}, "chunkedPrompt": {"chunks": []}},
    "a Codex session": lines({"type": "session_meta", "payload": {"id": "x"}}),
    "a SWE-agent trajectory": {"environment": "main", "trajectory": [], "history": [], "info": {}},
    "API-Bank dialogues": lines({"file": "a.jsonl", "dialogue": []}),
    "ABCD dialogues (human agents, no model)": lines({"convo_id": 1, "original": [], "delexed": []}),
    "Claude.ai projects, which hold no conversations": [{"uuid": "p", "is_private": False, "docs": []}],
    "benchmark tasks, which hold no conversations": lines({"id": "1", "evaluation_criteria": {}}),
    "ShareGPT dialogues": [{"id": "x", "conversations": [{"from": "human", "value": "hi"}]}],
    "LangChain messages": [{"type": "human", "data": {"content": "hi"}}],
    "a browser's recording of its network (HAR)": {"log": {"version": "1.2", "entries": []}},
    "JSON of something else (colour, size)": {"colour": "red", "size": 3},
    "a CSV table of something else (order, amount)": "order,amount\n1,2\n",
    # A table without a header: what stands where its names should be may be what somebody said.
    f"a CSV table of something else ({'said' * 10}, x)": f"{'said' * 50},x\n1,2\n",
    "an empty file": "",
    "text, not JSON": "# A policy\n\nRefunds take five days.\n",
}


@pytest.mark.parametrize("what", REFUSED)
def test_another_format_is_refused_by_its_name(tmp_path, what):
    name = "orders.csv" if "CSV" in what else "file.json"

    with pytest.raises(RefusedFileError) as refusal:
        read_file(write(tmp_path, REFUSED[what], name))

    assert str(refusal.value) == what


def test_bytes_that_are_no_text_are_no_table(tmp_path):
    packed = b"a,b,c" + bytes(500) + b"\n1,2,3\n"

    with pytest.raises(RefusedFileError, match="text, not JSON"):
        read_file(write(tmp_path, packed, "dump.tar"))


def test_an_archive_of_nothing_has_no_files(tmp_path):
    zipfile.ZipFile(tmp_path / "empty.zip", "w").close()

    assert list(open_documents(tmp_path / "empty.zip")) == []


def test_a_damaged_archive_is_refused(tmp_path):
    with pytest.raises(RefusedFileError, match="a damaged zip archive"):
        read_file(write(tmp_path, b"PK\x03\x04" + b"x" * 40, "export.zip"))
    with pytest.raises(RefusedFileError, match="a damaged archive"):
        read_file(write(tmp_path, b"\x1f\x8b" + b"x" * 40, "export.json.gz"))


def test_utf_16_is_refused_with_advice(tmp_path):
    with pytest.raises(RefusedFileError, match="UTF-16"):
        read_file(write(tmp_path, '{"a":1}'.encode("utf-16"), "export.json"))


def test_a_gzipped_file_is_read_as_what_is_in_it(tmp_path):
    text = lines({"messages": [{"role": "user", "content": "hi"}]})

    found = read_file(write(tmp_path, gzip.compress(text.encode()), "train.jsonl.gz"))

    assert found.label == "OpenAI-style dialogues"
    assert len(found.conversations) == 1


def test_a_truncated_gzip_gives_what_came_before_and_says_so(tmp_path):
    dice = random.Random(7)
    dialogues = [{"messages": [{"role": "user", "content": dice.randbytes(300).hex()}]} for _ in range(400)]
    packed = gzip.compress(lines(*dialogues).encode())

    found = read_file(write(tmp_path, packed[: len(packed) // 2], "train.jsonl.gz"))

    (broken,) = found.broken
    assert 150 < len(found.conversations) < 250
    assert broken.reason.startswith("the archive is damaged")


def test_a_small_truncated_gzip_gives_all_that_came_before_the_damage(tmp_path):
    dialogues = [{"messages": [{"role": "user", "content": f"number {number}"}]} for number in range(60)]
    packed = gzip.compress(json.dumps(dialogues).encode())

    found = read_file(write(tmp_path, packed[:-20], "train.json.gz"))

    (broken,) = found.broken
    assert len(found.conversations) > 50
    assert broken.reason.startswith("the archive is damaged")


def test_a_table_in_another_encoding_is_refused_with_advice(tmp_path):
    path = write(tmp_path, "chat,role,text,time\nc1,user,café,2025-03-01\n".encode("latin-1"), "chats.csv")
    (document,) = open_documents(path)

    with pytest.raises(RefusedFileError, match="save it as UTF-8"):
        detect_format(document)


def test_a_damaged_member_of_a_zip_costs_only_itself(tmp_path):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jsonl", lines({"messages": [{"role": "user", "content": "spoilt"}]}))
        archive.writestr("b.jsonl", lines({"messages": [{"role": "user", "content": "hi"}]}))
    path.write_bytes(path.read_bytes().replace(b"spoilt", b"SPOILT", 1))
    first, second = open_documents(path)

    with pytest.raises(RefusedFileError, match="Bad CRC-32"):
        detect_format(first)
    assert detect_format(second).LABEL == "OpenAI-style dialogues"


def test_a_zip_keeps_members_apart(tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jsonl", lines({"messages": [{"role": "user", "content": "hi"}]}))
        archive.writestr("photo.png", b"PNG")

    assert len(read_file(path).conversations) == 1


def test_a_cut_archive_of_a_small_table_gives_the_rows_before_the_damage(tmp_path):
    table = "chat,role,text\n" + "".join(f"c1,user,hello {number}\n" for number in range(40))
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(table.encode())[:-40])
    [document] = open_documents(path)
    *rows, broken = document.records()
    assert rows[0].value["text"] == "hello 0"
    assert "the archive is damaged" in broken.trouble
