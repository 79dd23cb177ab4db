"""Never again: by what an erased person would be recognised, as keyed digests only."""

from django.db import models

from conversations.vocabulary import ErasedKind


class ErasedSubject(models.Model):
    """One identifier of a person who was erased. Written by retention, asked by every way in.

    Append-only. The digest is keyed (`settings.DIGEST_KEY`), so that nobody can
    find out by trying who was erased.
    """

    id = models.BigAutoField(primary_key=True)
    kind = models.CharField(max_length=16, choices=ErasedKind)
    digest = models.BinaryField(max_length=32)
    erased_at = models.DateTimeField()

    class Meta:
        constraints = [
            # Also read: each way in asks with the digest.
            models.UniqueConstraint(fields=["digest", "kind"], name="conversations_erased_once"),
            models.CheckConstraint(
                condition=models.Q(kind__in=ErasedKind.values), name="conversations_erased_kind_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {bytes(self.digest).hex()[:12]}"
