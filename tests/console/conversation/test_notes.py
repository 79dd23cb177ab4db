"""Notes of staff on a conversation."""

from access.rights import RoleName
from conversations.models import ConversationNote
from tests.console.conversation.conftest import entries


def test_a_note_is_kept_with_its_ticket_and_read_by_who_may_read_texts(log_in, told):
    support = log_in(RoleName.SUPPORT)

    support.post(f"/conversations/{told.pk}/notes/", {"text": "Called <b>back</b>", "ticket": "SUP-9"})

    page = support.get(f"/conversations/{told.pk}/").content.decode()
    assert "Note withheld, 18 characters" in page
    support.post(f"/conversations/{told.pk}/open/", {"ticket": "SUP-9"})
    page = support.get(f"/conversations/{told.pk}/").content.decode()
    assert "Called &lt;b&gt;back&lt;/b&gt;" in page
    assert "Maja Lind, <bdi>SUP-9</bdi>" in page
    note = ConversationNote.objects.get()
    assert entries(action="change") == [("change", "conversation", f"note {note.pk}")]


def test_a_blank_note_is_not_kept(log_in, told):
    support = log_in(RoleName.SUPPORT)

    page = support.post(f"/conversations/{told.pk}/notes/", {"text": "  "}, follow=True).content.decode()

    assert "The note was not kept" in page
    assert not ConversationNote.objects.exists()
