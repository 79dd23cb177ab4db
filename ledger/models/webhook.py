"""What processors sent us: stored raw first, worked on later."""

from django.db import models
from django.db.models import Q

from conversations.models import RawBody
from ledger.vocabulary import EvidenceSource


class WebhookEvent(models.Model):
    """One event of a processor, once; delivered twice, it is still one row.

    `object_ref` is what the event hangs on (of a refund: its charge), so that
    what came before we knew that object is found when we do. `trouble` is a
    code of ours for an event that could not be applied; the event can be worked
    on again from the console.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    processor = models.CharField(max_length=32)
    event_id = models.CharField(max_length=255)
    type = models.CharField(max_length=128)
    object_ref = models.CharField(max_length=255, blank=True)
    occurred_at = models.DateTimeField(help_text="The processor's time.")
    received_at = models.DateTimeField()
    source = models.CharField(max_length=10, choices=EvidenceSource, default=EvidenceSource.WEBHOOK)
    deliveries = models.IntegerField(default=1)
    raw = models.ForeignKey(
        RawBody,
        models.DB_SET_NULL,
        null=True,
        related_name="+",
        help_text="Null once retention took it: the event cannot be worked on again.",
    )
    processed_at = models.DateTimeField(null=True)
    attempts = models.IntegerField(default=0)
    trouble = models.CharField(max_length=64, blank=True, default="", db_default="")
    effect = models.ForeignKey("ledger.ToolEffect", models.DO_NOTHING, null=True, related_name="events")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["processor", "event_id"], name="ledger_webhook_once_per_event"),
        ]
        indexes = [
            # The worker's queue, oldest first.
            models.Index(
                fields=["received_at"], name="webhook_waiting", condition=Q(processed_at__isnull=True)
            ),
            # Events in trouble: the page of those that wait for their object, or for a person.
            models.Index(fields=["-received_at"], name="webhook_trouble", condition=~Q(trouble="")),
            # The search box: ids that begin so.
            models.Index(fields=["event_id"], name="webhook_event_prefix", opclasses=["varchar_pattern_ops"]),
            # What arrived for an object before we knew the object.
            models.Index(fields=["object_ref"], name="webhook_object", condition=~Q(object_ref="")),
        ]

    def __str__(self) -> str:
        return self.event_id
