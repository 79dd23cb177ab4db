"""Text derived from messages, with what it was derived from. Never the only copy of anything."""

from django.db import models
from django.db.models import F, Q

from conversations.models.conversation import Conversation


class Summary(models.Model):
    """A summary of one stretch of a path, with the versions that made it.

    The stretch runs down the path that ends in `to_seq`, from `from_seq`. It is
    invalid once a message of the stretch is gone; then its text is gone too.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    conversation = models.ForeignKey(Conversation, models.DB_CASCADE, related_name="summaries")
    from_seq = models.IntegerField()
    to_seq = models.IntegerField()
    text = models.TextField()
    token_count = models.IntegerField(null=True)
    model = models.CharField(max_length=255, blank=True)
    prompt_version = models.CharField(max_length=64)
    is_pinned = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    invalidated_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(from_seq__lte=F("to_seq")), name="conversations_summary_range_ascends"
            ),
            models.CheckConstraint(
                condition=Q(invalidated_at__isnull=True) | Q(text=""),
                name="conversations_summary_invalid_has_no_text",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}#{self.from_seq}-{self.to_seq}"


class Chunk(models.Model):
    """A span of one part, cut for retrieval: half-open byte offsets into the part's UTF-8 text."""

    id = models.UUIDField(primary_key=True, editable=False)
    conversation = models.ForeignKey(Conversation, models.DB_CASCADE, related_name="chunks", db_index=False)
    seq = models.IntegerField()
    ordinal = models.SmallIntegerField()
    byte_start = models.IntegerField()
    byte_end = models.IntegerField()
    sha256 = models.BinaryField(max_length=32)
    chunking_version = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(byte_start__gte=0, byte_start__lt=F("byte_end")),
                name="conversations_chunk_span_is_not_empty",
            ),
            models.UniqueConstraint(
                fields=["conversation", "seq", "ordinal", "chunking_version", "byte_start", "byte_end"],
                name="conversations_chunk_span_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}#{self.seq}.{self.ordinal} {self.byte_start}-{self.byte_end}"
