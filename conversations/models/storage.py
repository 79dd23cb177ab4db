"""Where bytes lie that are shared, large, or raw."""

from django.db import models
from django.db.models import F, Q

from conversations.vocabulary import FragmentKind, RawClass


class Fragment(models.Model):
    """A piece of request bodies that repeats from call to call, stored once per digest.

    Swept when no generation names it.
    """

    id = models.BigAutoField(primary_key=True)
    sha256 = models.BinaryField(max_length=32)
    kind = models.CharField(max_length=10, choices=FragmentKind)
    body = models.BinaryField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sha256"], name="conversations_fragment_once_per_digest"),
            models.CheckConstraint(
                condition=Q(kind__in=FragmentKind.values), name="conversations_fragment_kind_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class Blob(models.Model):
    """A payload too large for a row, kept in blob storage and shared by digest.

    The storage key is a fresh uuid, never the hash: a key that is guessed or
    reused would let a sweep and an upload of the same bytes race.
    """

    id = models.BigAutoField(primary_key=True)
    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    media_type = models.CharField(max_length=127, blank=True, default="", db_default="")
    storage_key = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sha256"], name="conversations_blob_once_per_digest"),
            models.UniqueConstraint(fields=["storage_key"], name="conversations_blob_storage_key_once"),
            models.CheckConstraint(condition=Q(size__gte=0), name="conversations_blob_size_not_negative"),
        ]

    def __str__(self) -> str:
        return self.storage_key


class RawBody(models.Model):
    """The one store of raw things: zstd-compressed, with the digest of what was compressed.

    `conversation` and `account` say whose it is, so that erasure and retention
    find it; a webhook or a statement line belongs to nobody's conversation.
    `place` and `trouble` are set for quarantined nodes.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    raw_class = models.CharField(max_length=16, choices=RawClass)
    conversation = models.ForeignKey(
        "conversations.Conversation", models.DB_CASCADE, null=True, related_name="raw_bodies"
    )
    account = models.ForeignKey(
        "conversations.Account", models.DB_CASCADE, null=True, related_name="raw_bodies"
    )
    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    compressed = models.BinaryField()
    place = models.CharField(max_length=255, blank=True, default="", db_default="")
    trouble = models.CharField(max_length=255, blank=True, default="", db_default="")
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(raw_class__in=RawClass.values), name="conversations_rawbody_class_is_known"
            ),
            models.CheckConstraint(condition=Q(size__gte=0), name="conversations_rawbody_size_not_negative"),
        ]
        indexes = [
            # Retention: raw bodies of one class by age.
            models.Index(F("raw_class"), F("created_at"), name="rawbody_class_age"),
        ]

    def __str__(self) -> str:
        return f"{self.raw_class} {self.id}"
