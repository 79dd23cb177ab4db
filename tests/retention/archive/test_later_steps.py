"""Purges and strips of later days reach what lies in an archive."""

from datetime import timedelta

import pytest

from conversations.archive.opening import open_archive
from conversations.models import Archive
from conversations.services.appending import append_message
from conversations.services.blobs import blob_storage
from conversations.services.heads import switch_head
from retention.models import DoomedFile
from tests.conversations.drafts import assistant
from tests.retention.archive.conftest import COLD, states_of
from tests.retention.conftest import CUSTOMER, NOW, keep, remaining, sweep_files

pytestmark = pytest.mark.django_db


def test_the_file_goes_after_its_conversation(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    key = Archive.objects.get().storage_key

    run_purge(now=NOW + timedelta(days=91))

    assert remaining() == set()
    sweep_files()
    assert not blob_storage().exists(key)
    assert not DoomedFile.objects.exists()


def test_stripping_takes_the_archive_too(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    key = Archive.objects.get().storage_key
    keep(data_class="conversation_bytes", action="strip", days=40, effective_from=COLD)

    run_purge(now=NOW + timedelta(days=41))

    assert states_of(full) == {"stripped"}
    sweep_files()
    assert not blob_storage().exists(key)


def test_stripping_tool_payloads_makes_a_new_file_without_them(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    keep(data_class="tool_payloads", action="strip", days=40, effective_from=COLD)

    run_purge(now=NOW + timedelta(days=41))

    assert states_of(full) == {"stripped", "archived"}
    assert Archive.objects.get().part_count == 6
    kept = open_archive(conversation_id=full.id).parts
    assert {seq for seq, _ in kept} == {1, 4, 5}


def test_purging_branches_makes_a_new_file_without_them(full, archive_after_30, run_purge):
    switch_head(conversation_id=full.id, seq=4, actor=CUSTOMER, now=NOW)
    append_message(conversation_id=full.id, message=assistant("Lost."), actor=CUSTOMER, now=NOW)
    run_purge(now=COLD)
    keep(data_class="abandoned_branches", action="purge", days=40, effective_from=COLD)

    run_purge(now=NOW + timedelta(days=41))

    assert Archive.objects.get().part_count == 8
    assert (5, 0) not in open_archive(conversation_id=full.id).parts
