"""What the processor says and the ledger cannot express as a move: kept for the reconciliation."""

from django.db import models
from django.db.models import Q

from conversations.writing_order import NextInOrder
from ledger.models.effect import ToolEffect
from ledger.vocabulary import ContradictionKind, EvidenceSource


class Contradiction(models.Model):
    """One contradiction, once; a finding of the next reconciliation. Append-only.

    Holds ids, numbers, times and closed choices, never words.
    """

    id = models.BigAutoField(primary_key=True)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, related_name="contradictions", db_index=False)
    kind = models.CharField(max_length=24, choices=ContradictionKind)
    processor = models.CharField(max_length=32)
    reference = models.CharField(max_length=255, blank=True)
    status = models.CharField(max_length=64, blank=True)
    amount_minor = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3, blank=True)
    source = models.CharField(max_length=10, choices=EvidenceSource)
    occurred_at = models.DateTimeField(null=True, help_text="The processor's time.")
    seen_at = models.DateTimeField()
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    class Meta:
        constraints = [
            # Also read: the contradictions of one effect.
            models.UniqueConstraint(fields=["effect", "kind", "reference"], name="ledger_contradiction_once"),
            models.CheckConstraint(
                condition=Q(kind__in=ContradictionKind.values), name="ledger_contradiction_kind_is_known"
            ),
        ]
        indexes = [
            # The search box: the second charge's id leads here.
            models.Index(
                fields=["reference"],
                name="contradiction_reference",
                condition=~Q(reference=""),
                opclasses=["varchar_pattern_ops"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.effect_id}"
