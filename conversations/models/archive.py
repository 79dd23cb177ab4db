"""Where the bytes of a cold conversation lie: one file, with its digest."""

from django.db import models
from django.db.models import Q

from conversations.models.conversation import Conversation


class Archive(models.Model):
    """The archive file of one conversation. Every part whose bytes are "archived" is in it.

    Never changed but for `is_returning`, which is true within the one transaction that puts the
    bytes back; the row may go once no part needs it, and its file goes after it. `content_sha256`
    is taken by the database over the parts below `next_seq`, so that it can tell whether the very
    bytes came back.
    """

    conversation = models.OneToOneField(
        Conversation, models.DB_CASCADE, primary_key=True, related_name="archive"
    )
    storage_key = models.CharField(max_length=64)
    sha256 = models.BinaryField(max_length=32, help_text="Of the file as it lies.")
    size = models.BigIntegerField(help_text="Of the file, in bytes.")
    part_count = models.IntegerField()
    byte_count = models.BigIntegerField(help_text="What was taken out of the rows, uncompressed.")
    next_seq = models.IntegerField(help_text="The first message that is not in it.")
    content_sha256 = models.BinaryField(max_length=32)
    is_returning = models.BooleanField(default=False, db_default=False)
    archived_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["storage_key"], name="conversations_archive_storage_key_once"),
            models.CheckConstraint(
                condition=Q(size__gt=0, part_count__gt=0, byte_count__gte=0),
                name="conversations_archive_is_not_empty",
            ),
        ]

    def __str__(self) -> str:
        return self.storage_key
