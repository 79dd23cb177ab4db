"""What nothing names any more goes: the row first, the file after, and never what somebody needs."""

import os
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from conversations.drafts import MessageDraft, PartDraft
from conversations.ids import mint_id
from conversations.models import Blob, Fragment
from conversations.services.appending import append_message
from conversations.services.blobs import keep_blob
from conversations.vocabulary import PartType, Role
from retention.models import DoomedFile
from retention.purging.step import Ask
from retention.purging.sweeping import take_orphan_files
from tests.conversations.schema.rows import insert
from tests.conversations.writers import at_once
from tests.retention.conftest import CUSTOMER, LATE, NOW

pytestmark = pytest.mark.django_db

PAYLOAD = b"%PDF" + b"a" * 40_000
OLD = timezone.now() - timedelta(days=2)


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def attach(talk):
    part = PartDraft(type=PartType.DOCUMENT, payload=PAYLOAD, media_type="application/pdf")
    message = MessageDraft(role=Role.USER, parts=[part])
    append_message(conversation_id=talk.id, message=message, actor=CUSTOMER, now=NOW)


def test_a_blob_goes_with_its_last_conversation(make_talk, folder, run_purge):
    attach(make_talk())
    Blob.objects.update(created_at=NOW)

    run = run_purge()
    a_day_later = run_purge(now=LATE + timedelta(days=1))

    assert (files(folder), Blob.objects.count(), DoomedFile.objects.count()) == ([], 0, 0)
    assert run.counts["blobs"] == {"due": 1, "blob": 1, "gone": 1}
    assert a_day_later.counts["files"] == {"due": 1, "file": 1, "gone": 1}


def test_a_file_stays_while_a_backup_may_still_be_copying(make_talk, folder, run_purge):
    """The database was copied before its blob went; the files are copied after that."""
    attach(make_talk())
    Blob.objects.update(created_at=NOW)

    run_purge()
    run_purge(now=LATE + timedelta(hours=23, minutes=59))

    assert (len(files(folder)), DoomedFile.objects.count()) == (1, 1)


def test_a_blob_that_another_conversation_shares_stays(make_talk, folder, run_purge):
    attach(make_talk())
    attach(make_talk(at=NOW + timedelta(days=80)))
    Blob.objects.update(created_at=NOW)

    run_purge()

    assert (len(files(folder)), Blob.objects.count()) == (1, 1)


def test_a_dry_run_leaves_rows_and_files(folder, run_purge):
    keep_blob(payload=PAYLOAD, media_type="")
    Blob.objects.update(created_at=NOW)
    DoomedFile.objects.create(storage_key="aa/gone-long-ago", doomed_at=NOW)

    run = run_purge(is_dry_run=True)

    assert (len(files(folder)), Blob.objects.count(), DoomedFile.objects.count()) == (1, 1, 1)
    assert (run.counts["blobs"]["gone"], run.counts["files"]["gone"]) == (1, 1)


def test_a_file_that_was_deleted_before_the_kill_is_no_trouble(folder, run_purge):
    DoomedFile.objects.create(storage_key="aa/gone-long-ago", doomed_at=NOW)

    run = run_purge()

    assert (run.state, DoomedFile.objects.count()) == ("succeeded", 0)


def test_an_old_file_that_no_row_names_goes(folder, run_purge):
    for age, name in ((OLD.timestamp(), "old"), (timezone.now().timestamp(), "young")):
        path = folder / "aa" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"left behind")
        os.utime(path, (age, age))

    run_purge(now=timezone.now())

    assert [path.name for path in files(folder)] == ["young"]


def test_files_that_no_row_names_go_a_page_at_a_time(folder):
    for key in ("aa/1", "aa/2", "aa/3", "ab/1", "ac/1"):
        path = folder / key
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"left behind")
        os.utime(path, (OLD.timestamp(), OLD.timestamp()))

    pages, after = [], None
    while not pages or after is not None:
        taken = take_orphan_files(Ask(after=after, limit=2, now=timezone.now(), run_id=mint_id(NOW)))
        pages.append(taken.counts.get("gone", 0))
        after = taken.after

    assert (pages, files(folder)) == ([2, 2, 1], [])


def test_a_file_that_a_row_names_stays_however_old(make_talk, folder, run_purge):
    attach(make_talk(at=timezone.now()))
    Blob.objects.update(created_at=OLD)
    for path in files(folder):
        os.utime(path, (OLD.timestamp(), OLD.timestamp()))

    run_purge(now=timezone.now())

    assert len(files(folder)) == 1


def test_fragments_that_no_attempt_names_go(make_talk, run_purge):
    for number in (1, 2):
        insert("fragment", id=number, sha256=bytes([number]) * 32)
    talk = make_talk(at=NOW + timedelta(days=80))
    insert(
        "generation",
        conversation_id=talk.id,
        number=1,
        tools_id=1,
        status="complete",
        finished_at=NOW,
    )

    run_purge()

    assert list(Fragment.objects.values_list("pk", flat=True)) == [1]


@pytest.mark.django_db(transaction=True)
def test_an_import_of_the_same_bytes_while_the_sweep_runs_loses_nothing(make_talk, folder, run_purge):
    keep_blob(payload=PAYLOAD, media_type="application/pdf")
    Blob.objects.update(created_at=NOW)
    talk = make_talk(at=NOW + timedelta(days=80))

    at_once(lambda: run_purge(now=NOW + timedelta(days=85)), lambda: attach(talk))

    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute(
            "SELECT b.storage_key FROM conversations_messagepart p"
            " JOIN conversations_blob b ON b.id = p.blob_id"
        )
        (key,) = [row[0] for row in cursor.fetchall()]
    assert (folder / key).read_bytes() == PAYLOAD
