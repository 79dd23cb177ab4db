"""What staff write about a conversation."""

from django.conf import settings
from django.db import models

from conversations.models.conversation import Conversation


class ConversationNote(models.Model):
    """A note of staff. It goes with its conversation; erasing its person empties the words."""

    id = models.UUIDField(primary_key=True, editable=False)
    conversation = models.ForeignKey(Conversation, models.DB_CASCADE, related_name="notes", db_index=False)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False)
    text = models.TextField(blank=True)
    ticket = models.CharField(max_length=64, blank=True)
    written_at = models.DateTimeField()

    class Meta:
        indexes = [
            # The notes beside a thread, newest first; and the erasure of a person's.
            models.Index(fields=["conversation", "-written_at"], name="note_conversation"),
            # The search box: every conversation that mentions a ticket.
            models.Index(fields=["ticket"], name="note_ticket", condition=~models.Q(ticket="")),
        ]

    def __str__(self) -> str:
        return f"note on {self.conversation_id}"
