"""Keys of applications: each belongs to one realm, and reads and writes nothing outside it."""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from access.models.realm import Realm


class Scope(models.TextChoices):
    """What a key may do. None includes another."""

    READ = "read", "Read conversations, usage and statistics"
    WRITE = "write", "Record exchanges and write conversations"
    EFFECTS = "effects", "Begin and settle effects of tools"
    PRIVACY = "privacy", "Place holds and ask for erasure"


DEFAULT_REQUESTS_PER_MINUTE: Final = 6_000
EVERY_READ: Final = 100


class ApiKey(models.Model):
    """One application's key. The secret itself is shown once and kept nowhere: only its SHA-256 stands here.

    A secret carries 256 random bits, so a plain digest cannot be turned back by trying.
    """

    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+")
    application = models.CharField(max_length=100)
    hint = models.CharField(max_length=16, help_text="How the secret begins, to tell keys apart.")
    secret_digest = models.BinaryField(max_length=32, unique=True)
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope))
    requests_per_minute = models.IntegerField(default=DEFAULT_REQUESTS_PER_MINUTE)
    reads_logged_percent = models.SmallIntegerField(
        default=EVERY_READ, help_text="Of its reads of what was said, so many are in the access log."
    )
    created_at = models.DateTimeField()
    created_by_id = models.CharField(max_length=64, help_text="The user who made it.")
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    revoked_by_id = models.CharField(max_length=64, blank=True)
    last_used_at = models.DateTimeField(null=True, help_text="To the minute.")
    replaces = models.OneToOneField("self", models.DO_NOTHING, null=True, related_name="replaced_by")

    class Meta:
        verbose_name = "API key"
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=Scope.values) & Q(scopes__len__gt=0),
                name="access_apikey_scopes_are_known",
            ),
            models.CheckConstraint(
                condition=Q(requests_per_minute__gt=0), name="access_apikey_rate_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(reads_logged_percent__range=(1, EVERY_READ)),
                name="access_apikey_some_reads_are_logged",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=F("created_at")),
                name="access_apikey_expires_after_it_was_made",
            ),
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=True, revoked_by_id="")
                | (Q(revoked_at__isnull=False) & ~Q(revoked_by_id="")),
                name="access_apikey_revoked_by_somebody",
            ),
        ]
        indexes = [
            # The search box: pages show how a secret begins.
            models.Index(fields=["hint"], name="apikey_hint", opclasses=["varchar_pattern_ops"]),
        ]

    def __str__(self) -> str:
        return f"{self.application} {self.hint}…"
