"""A second run goes on where the first one ended, and adds nothing twice."""

import gzip
from io import StringIO
from pathlib import Path

from django.core.management import call_command

from conversations.models import Conversation, Generation
from counterfoil_recorder.backfill.command import ALL_IN, SOME_BAD
from tests.client.backfill.conftest import dialogue, write


def test_a_second_run_adds_nothing(backfill):
    path = write(dialogue("chat"))
    backfill(path)

    status, told = backfill(path)
    assert status == ALL_IN
    assert "goes on behind line 3" in told
    assert "0 recorded; by earlier runs 3 recorded" in told

    assert backfill(path, "--again") == (ALL_IN, "0 recorded, 3 known before\n")
    assert Generation.objects.count() == 3


def test_a_file_that_grew_is_gone_on_with(backfill):
    lines = dialogue("chat")
    backfill(write(lines[:2]))

    assert "1 recorded; by earlier runs 2 recorded" in backfill(write(lines))[1]
    assert Conversation.objects.get().next_seq == 7


def test_a_line_that_is_still_being_written_is_read_again(backfill):
    lines = dialogue("chat")
    path = write(lines)
    path.write_text(path.read_text()[:-30])
    status, told = backfill(path)
    assert (status, "line 3: no JSON" in told) == (SOME_BAD, True)

    status, told = backfill(write(lines))
    assert (status, told.splitlines()[-1]) == (ALL_IN, "1 recorded; by earlier runs 2 recorded")


def test_what_was_imported_from_the_same_file_is_known(backfill):
    path = write(dialogue("chat"))
    call_command("import_conversations", path, realm="north", account="customer-7", stdout=StringIO())

    assert backfill(path) == (ALL_IN, "0 recorded, 3 known before\n")
    assert Generation.objects.count() == 3


def test_another_file_of_the_same_name_is_sent_whole(backfill):
    backfill(write(dialogue("one")))

    assert backfill(write(dialogue("two"))) == (ALL_IN, "3 recorded\n")


def test_another_store_or_account_does_not_go_by_the_cursor(backfill):
    path = write(dialogue("chat"))
    backfill(path)

    assert "goes on" not in backfill(path, account="customer-8")[1]


def test_a_packed_file_is_read_and_gone_on_with(backfill):
    lines = dialogue("chat")
    path = Path("calls.jsonl.gz")
    path.write_bytes(gzip.compress(write(lines[:2]).read_bytes()))
    backfill(path)
    path.write_bytes(gzip.compress(write(lines).read_bytes()))

    assert "1 recorded; by earlier runs 2 recorded" in backfill(path)[1]
