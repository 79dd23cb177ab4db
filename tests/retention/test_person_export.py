"""An access request: one archive with all of one person, and nothing of anybody else."""

import io
import json
import random
import zipfile

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Archive
from conversations.services.appending import append_message
from conversations.services.blobs import blob_storage
from conversations.services.notes import write_note
from conversations.vocabulary import PartType, Role
from retention.archiving import archive_bytes
from retention.services.person_export import export_person
from tests.retention.conftest import CUSTOMER, NOW

pytestmark = pytest.mark.django_db


def opened(*accounts):
    pieces = list(export_person(account_ids=[account.pk for account in accounts]))
    return zipfile.ZipFile(io.BytesIO(b"".join(pieces)))


def test_everything_of_the_person_is_in_the_archive(make_account, make_talk, officer):
    person = make_account(email="q.sample@example.org")
    talk = make_talk(account_id=person.pk, words="Where is order 1042?", title="An order")
    talk.replies("On its way.")
    write_note(conversation_id=talk.id, author=officer, text="called back", now=NOW)
    make_talk(words="somebody else's")

    archive = opened(person)

    assert archive.testzip() is None
    assert json.loads(archive.read("account.json"))[0]["email"] == "q.sample@example.org"
    (line,) = archive.read("conversations.jsonl").splitlines()
    assert json.loads(line)["title"] == "An order"
    text = archive.read(f"conversations/{talk.id}.txt").decode()
    assert text.endswith("\nuser:\nWhere is order 1042?\n\nassistant:\nOn its way.\n")
    assert json.loads(archive.read("notes.json"))[0]["text"] == "called back"
    assert not any(b"somebody else" in archive.read(name) for name in archive.namelist())


def test_attachments_are_in_it(account, make_talk):
    talk = make_talk()
    payload = b"%PDF" + b"a" * 40_000
    message = MessageDraft(role=Role.USER, parts=[PartDraft(type=PartType.DOCUMENT, payload=payload)])
    append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)

    archive = opened(account)

    (file,) = [name for name in archive.namelist() if name.startswith("files/")]
    assert archive.read(file) == payload


def test_what_was_charged_is_in_it(bought, account):
    (payment,) = json.loads(opened(account).read("payments.json"))

    assert (payment["tool"], payment["amount_minor"], payment["currency"]) == ("charge_card", 1900, "usd")


def test_the_archive_leaves_in_pieces(make_account, make_talk):
    person = make_account()
    for number in range(40):
        make_talk(account_id=person.pk, words=random.Random(number).randbytes(6000).hex())

    pieces = list(export_person(account_ids=[person.pk]))

    assert len(pieces) > 2
    assert zipfile.ZipFile(io.BytesIO(b"".join(pieces))).testzip() is None


def test_what_lies_in_the_archive_is_in_it_too(account, make_talk):
    talk = make_talk(words="Where is order 1042?")
    payload = b"%PDF" + b"a" * 40_000
    message = MessageDraft(role=Role.USER, parts=[PartDraft(type=PartType.DOCUMENT, payload=payload)])
    append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)
    archive_bytes(conversation_id=talk.id, now=NOW)

    archive = opened(account)

    assert "Where is order 1042?" in archive.read(f"conversations/{talk.id}.txt").decode()
    assert archive.read(f"files/{talk.id}-2-0") == payload
    (line,) = archive.read("conversations.jsonl").splitlines()
    assert json.loads(line)["messages"][0]["parts"][0]["text"] == "Where is order 1042?"


def test_an_archive_file_that_is_gone_is_said_where_the_words_would_be(account, make_talk):
    talk = make_talk()
    archive_bytes(conversation_id=talk.id, now=NOW)
    blob_storage().delete(Archive.objects.get().storage_key)

    text = opened(account).read(f"conversations/{talk.id}.txt").decode()

    assert "is not in blob storage" in text
