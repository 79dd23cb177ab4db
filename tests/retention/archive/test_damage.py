"""A file that cannot be opened is named, and changes nothing."""

from datetime import timedelta

import pytest

from conversations.archive.opening import ArchiveError, open_archive
from conversations.models import Archive
from conversations.reads.path import read_path
from conversations.reads.window import read_window
from conversations.services.blobs import blob_storage
from retention.models import ArchiveReturn
from retention.services.bringing_back import bring_back
from tests.retention.archive.conftest import COLD, damage, states_of
from tests.retention.conftest import NOW, keep

pytestmark = pytest.mark.django_db


def test_a_damaged_file_says_so_and_nothing_changes(full, archive_after_30, run_purge, officer):
    run_purge(now=COLD)
    damage(full)

    with pytest.raises(ArchiveError, match="not the one that was written"):
        bring_back(conversation_id=full.id, user=officer, now=COLD)

    assert states_of(full) == {"archived"}
    assert not ArchiveReturn.objects.exists()
    shown = read_window(conversation_id=full.id, seqs=[1], with_bytes=True)[1].parts[0]
    assert (shown.text, "checksum differs" in shown.archive_trouble) == (None, True)
    message = read_path(conversation_id=full.id, leaf_seq=1)[0]
    assert (message.lost_parts, "checksum differs" in message.lost_why) == ([0], True)


def test_a_missing_file_says_so(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    blob_storage().delete(Archive.objects.get().storage_key)

    with pytest.raises(ArchiveError, match="not in blob storage"):
        open_archive(conversation_id=full.id)


def test_what_cannot_be_opened_stands_against_a_step_that_needs_it(full, archive_after_30, run_purge):
    run_purge(now=COLD)
    damage(full)
    keep(data_class="tool_payloads", action="strip", days=40, effective_from=COLD)

    run = run_purge(now=NOW + timedelta(days=41))

    assert run.state == "succeeded"
    assert run.counts["tool_payloads"]["archive"] == 1
    assert states_of(full) == {"archived"}
