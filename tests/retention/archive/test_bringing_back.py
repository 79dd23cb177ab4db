"""An archived conversation gets the very bytes back."""

from datetime import timedelta

import pytest
from django.db import connection

from conversations.models import Archive, Blob, Message, ToolCall
from retention.models import DoomedFile
from retention.services.bringing_back import bring_back
from retention.services.holds import place_hold
from tests.retention.archive.conftest import COLD, states_of
from tests.retention.conftest import NOW

pytestmark = pytest.mark.django_db


_ROWS = (
    "SELECT p.seq, p.ordinal, p.bytes_state, p.text, p.payload, p.shell, p.is_text_copy, b.sha256"
    " FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id"
    " WHERE conversation_id = %s ORDER BY 1, 2"
)


def rows_of(talk):
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, [talk.id])
        return [
            [bytes(one) if isinstance(one, memoryview) else one for one in row] for row in cursor.fetchall()
        ]


def test_bringing_back_gives_every_row_its_bytes(full, archive_after_30, run_purge, officer):
    before, arguments = rows_of(full), ToolCall.objects.get().arguments
    run_purge(now=COLD)
    key = Archive.objects.get().storage_key

    assert bring_back(conversation_id=full.id, user=officer, now=COLD) == 8

    assert rows_of(full) == before
    assert ToolCall.objects.get().arguments == arguments
    assert Message.objects.get(seq=4).shell == '{"role":"user","name":"zoë","content":[\x03]}'
    assert not Archive.objects.exists()
    assert DoomedFile.objects.get().storage_key == key


def test_what_was_brought_back_is_left_alone_for_a_while(full, archive_after_30, run_purge, officer):
    run_purge(now=COLD)
    bring_back(conversation_id=full.id, user=officer, now=COLD)

    run_purge(now=COLD + timedelta(days=29))
    assert states_of(full) == {"present"}
    run_purge(now=COLD + timedelta(days=31))

    assert states_of(full) == {"archived"}


def test_a_held_conversation_can_be_brought_back(full, archive_after_30, run_purge, officer):
    run_purge(now=COLD)
    place_hold(conversation_id=full.id, matter="M-7", user=officer, now=COLD)

    bring_back(conversation_id=full.id, user=officer, now=COLD)

    assert states_of(full) == {"present"}


def test_blobs_that_only_the_archive_has_are_swept_and_come_back(full, archive_after_30, run_purge, officer):
    before = rows_of(full)
    Blob.objects.update(created_at=NOW)
    run_purge(now=COLD)
    assert not Blob.objects.exists()

    bring_back(conversation_id=full.id, user=officer, now=COLD)

    assert rows_of(full) == before
