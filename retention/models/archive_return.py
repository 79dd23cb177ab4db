"""Conversations whose bytes somebody has brought back from the archive."""

from django.conf import settings
from django.db import models

from conversations.models import Conversation


class ArchiveReturn(models.Model):
    """Who brought the bytes back, and when: for a while the archive leaves the conversation alone."""

    conversation = models.OneToOneField(Conversation, models.DB_CASCADE, primary_key=True, related_name="+")
    returned_at = models.DateTimeField()
    returned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False
    )

    def __str__(self) -> str:
        return f"{self.conversation_id} {self.returned_at}"
