"""What was answered to a request that named an idempotency key, so that a repeat gets the same answer."""

from django.db import models
from django.db.models import Q

from access.models.api_key import ApiKey


class StoredAnswer(models.Model):
    """The first answer under one idempotency key of one API key.

    Without `answered_at` the first request is still being worked on, or its process died:
    after a while the key may be claimed anew.
    """

    id = models.BigAutoField(primary_key=True)
    api_key = models.ForeignKey(ApiKey, models.DB_CASCADE, related_name="+", db_index=False)
    idempotency_key = models.CharField(max_length=255)
    request_digest = models.BinaryField(
        max_length=32, help_text="SHA-256 over method, path and body: one key is for one request."
    )
    claimed_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    status = models.SmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=bytes)
    account_id = models.UUIDField(null=True, help_text="Whom the answer speaks of; erasure takes it by this.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["api_key", "idempotency_key"], name="access_storedanswer_once_per_key"
            ),
            models.CheckConstraint(
                condition=Q(answered_at__isnull=True, status__isnull=True)
                | Q(answered_at__isnull=False, status__isnull=False),
                name="access_storedanswer_has_a_status",
            ),
        ]
        indexes = [
            # The sweep of old answers.
            models.Index(fields=["claimed_at"], name="stored_answer_claimed"),
            models.Index(
                fields=["account_id"], name="stored_answer_account", condition=Q(account_id__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.idempotency_key
