"""Staff notes on a conversation: written, never changed; emptied when their person is erased."""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User

from conversations.errors import StoreError
from conversations.ids import mint_id
from conversations.models import ConversationNote
from conversations.wire.literals import readable_copy

LONGEST = 4_000


def write_note(
    *, conversation_id: UUID, author: User, text: str, now: datetime, ticket: str = ""
) -> ConversationNote:
    """Write one note; a blank or overlong one is refused."""
    words = readable_copy(text.strip())
    if not words or len(words) > LONGEST:
        raise StoreError(
            "note-length",
            f"a note has 1 to {LONGEST} characters, this one has {len(words)}",
            place=f"conversation {conversation_id}",
        )
    note = ConversationNote(
        id=mint_id(now),
        conversation_id=conversation_id,
        author=author,
        text=words,
        ticket=readable_copy(ticket.strip())[:64],
        written_at=now,
    )
    note.save(force_insert=True)
    return note
