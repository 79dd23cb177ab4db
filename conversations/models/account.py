"""A customer's account: whose conversations these are."""

from django.db import models
from django.db.models.functions import Lower

from access.models import Realm
from conversations.ends import end_of


class Account(models.Model):
    """One customer of one realm, known by the realm's own id for it."""

    id = models.UUIDField(primary_key=True, editable=False)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="accounts")
    external_id = models.CharField(max_length=255)
    label = models.CharField(max_length=255, blank=True)
    email = models.CharField(max_length=320, blank=True)
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True, help_text="Starts the clock of its retention.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["realm", "external_id"], name="conversations_account_external_id_once_per_realm"
            ),
        ]
        indexes = [
            # The search box and the erasure desk find people by e-mail, and by the customer's own id.
            models.Index(Lower("email"), name="account_email", condition=~models.Q(email="")),
            models.Index(fields=["external_id"], opclasses=["varchar_pattern_ops"], name="account_external"),
            # The search box: ids by their end.
            models.Index(end_of("id"), name="account_end"),
        ]

    def __str__(self) -> str:
        return self.external_id
