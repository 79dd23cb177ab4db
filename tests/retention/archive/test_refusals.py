"""What the application's role may not do to an archive with statements of its own."""

import pytest
from django.db import transaction

from retention.services.holds import place_hold
from tests.conversations.schema.rows import execute, refused
from tests.retention.archive.conftest import COLD

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
class TestTheDatabaseRefuses:
    """What the application's role may not do to an archive with statements of its own."""

    @pytest.fixture
    def archived(self, full, archive_after_30, run_purge):
        run_purge(now=COLD)
        return full

    def test_a_part_without_its_archive(self, full):
        with refused("conversations_part_has_its_archive"):
            execute(
                "UPDATE conversations_messagepart SET text = NULL, payload = NULL, shell = NULL,"
                " blob_id = NULL, is_text_copy = false, bytes_state = 'archived'"
            )

    def test_letting_an_archive_go_that_is_needed(self, archived):
        with refused("conversations_archive_is_needed"):
            execute("DELETE FROM conversations_archive")

    def test_another_file_in_its_place(self, archived):
        with refused("conversations_archive_written_once"):
            execute("UPDATE conversations_archive SET storage_key = 'aa/other'")

    def test_bytes_that_come_back_by_themselves(self, archived):
        with refused("conversations_part_only_loses_bytes"):
            execute("UPDATE conversations_messagepart SET text = 'made up', bytes_state = 'present'")

    def test_a_return_that_does_not_end(self, archived):
        with refused("conversations_archive_return_ends"):
            execute("UPDATE conversations_archive SET is_returning = true")

    def test_other_bytes_than_were_archived(self, archived):
        with refused("conversations_archive_comes_back_whole"):
            return_other_bytes()

    def test_taking_archived_bytes_of_what_is_held(self, archived, officer):
        place_hold(conversation_id=archived.id, matter="M-7", user=officer, now=COLD)
        with refused("retention_held_stays"):
            execute("UPDATE conversations_messagepart SET bytes_state = 'erased'")


def return_other_bytes():
    with transaction.atomic():
        execute("UPDATE conversations_archive SET is_returning = true")
        execute("UPDATE conversations_messagepart SET text = 'made up', bytes_state = 'present'")
        execute("DELETE FROM conversations_archive")
