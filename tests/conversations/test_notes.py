from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from conversations.errors import StoreError
from conversations.models import ConversationNote
from conversations.services.notes import LONGEST, write_note
from tests.conversations.conftest import NOW


@pytest.fixture
def author(db: None) -> User:
    return User.objects.create_user("maja")


def test_a_note_keeps_its_words_author_ticket_and_time(conversation, author):
    written = write_note(
        conversation_id=conversation.pk, author=author, text=" Called back. ", ticket="SUP-1", now=NOW
    )

    note = ConversationNote.objects.get(pk=written.pk)
    assert (note.text, note.author, note.ticket, note.written_at) == ("Called back.", author, "SUP-1", NOW)


@pytest.mark.parametrize("text", ["", "  \n", "x" * (LONGEST + 1)])
def test_a_blank_or_overlong_note_is_refused(conversation, author, text):
    with pytest.raises(StoreError, match="a note has 1 to 4000 characters"):
        write_note(conversation_id=conversation.pk, author=author, text=text, now=NOW)

    assert not ConversationNote.objects.exists()


def test_characters_that_the_database_refuses_become_marks(conversation, author):
    note = write_note(conversation_id=conversation.pk, author=author, text="a\x00b", now=NOW)

    assert "\x00" not in ConversationNote.objects.get(pk=note.pk).text


def test_a_note_goes_with_its_conversation(conversation, author):
    write_note(conversation_id=conversation.pk, author=author, text="a", now=NOW + timedelta(days=1))

    conversation.delete()

    assert not ConversationNote.objects.exists()
