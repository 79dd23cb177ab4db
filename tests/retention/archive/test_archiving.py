"""The bytes of cold conversations go into one file, and every row stays."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import transaction

from conversations.errors import NotFoundError
from conversations.models import Archive, Conversation, Message, MessagePart, ToolCall
from conversations.services.appending import append_message
from conversations.services.blobs import blob_storage
from retention.archiving import archive_bytes
from retention.locks import lock_accounts, lock_conversations
from retention.services.bringing_back import bring_back
from retention.services.holds import place_hold
from tests.conversations.drafts import user
from tests.conversations.writers import at_once
from tests.retention.archive.conftest import COLD, drafts_of, states_of
from tests.retention.conftest import CUSTOMER, NOW, sweep_files

pytestmark = pytest.mark.django_db


def test_the_bytes_leave_and_every_row_stays(full, archive_after_30, run_purge):
    kept = Message.objects.count(), MessagePart.objects.count(), ToolCall.objects.count()

    run = run_purge(now=COLD)

    archive = Archive.objects.get(pk=full.id)
    assert states_of(full) == {"archived"}
    assert (Message.objects.count(), MessagePart.objects.count(), ToolCall.objects.count()) == kept
    assert not Message.objects.exclude(shell=None).exists()
    assert MessagePart.objects.get(type="tool_use").payload is None
    assert (archive.part_count, archive.next_seq) == (8, 6)
    assert run.counts["archive"] == {
        "due": 1,
        "gone": 1,
        "messagepart_archived": 8,
        "bytes_archived": archive.byte_count,
        "file_bytes": archive.size,
    }
    assert blob_storage().size(archive.storage_key) == archive.size


def test_nothing_due_is_archived(full, archive_after_30, run_purge):
    run_purge(now=NOW + timedelta(days=30))

    assert states_of(full) == {"present"}


def test_a_dry_run_counts_and_leaves_no_file(full, archive_after_30, run_purge, folder):
    files = sorted(folder.rglob("*"))

    run = run_purge(now=COLD, is_dry_run=True)

    assert run.counts["archive"]["messagepart_archived"] == 8
    assert states_of(full) == {"present"}
    assert sorted(folder.rglob("*")) == files


def test_an_archived_conversation_that_goes_on_is_archived_whole_again(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    first = Archive.objects.get()
    append_message(conversation_id=full.id, message=user("Thanks!"), actor=CUSTOMER, now=COLD)
    before = drafts_of(full)

    run_purge(now=COLD + timedelta(days=31))

    again = Archive.objects.get()
    assert (first.part_count, again.part_count) == (8, 9)
    assert drafts_of(full) == before
    sweep_files()
    assert not blob_storage().exists(first.storage_key)


def test_a_held_conversation_is_not_archived(full, archive_after_30, run_purge, officer):
    place_hold(conversation_id=full.id, matter="M-7", user=officer, now=NOW)

    run = run_purge(now=COLD)

    assert states_of(full) == {"present"}
    assert run.counts["archive"] == {"due": 1, "hold": 1}


@pytest.mark.django_db(transaction=True)
def test_what_is_said_while_it_is_archived_is_lost_by_nobody(make_talk, archive_after_30, run_purge, officer):
    """Writers, the archive, and somebody who brings it back, all at once."""
    talk = make_talk(words="first")

    def say(number):
        append_message(conversation_id=talk.id, message=user(f"word {number}"), actor=CUSTOMER, now=NOW)

    def archive():
        with transaction.atomic():
            lock_accounts([Conversation.objects.get(pk=talk.id).account_id])
            lock_conversations([talk.id], waits=True)
            archive_bytes(conversation_id=talk.id, now=NOW)

    def return_all():
        try:
            bring_back(conversation_id=talk.id, user=officer, now=NOW)
        except NotFoundError:
            return

    outcomes = at_once(
        *[partial(say, number) for number in range(6)], archive, return_all, archive, return_all
    )

    assert [one for one in outcomes if isinstance(one, Exception)] == []
    words = {part.text for draft in drafts_of(talk) for part in draft.parts}
    assert words == {"first", *(f"word {number}" for number in range(6))}
    archived = MessagePart.objects.filter(bytes_state="archived").exists()
    assert Archive.objects.exists() == archived
