"""Refunds and disputes as they were known before: what a reconciliation reads as of its cut-off.

The database writes these rows itself with every change of what they are versions of; the
application can neither add one nor change one.
"""

from django.db import models

from conversations.writing_order import NextInOrder
from ledger.models.compensation import Compensation, Dispute
from ledger.vocabulary import CompensationState


class CompensationVersion(models.Model):
    """A compensation as it was known from `known_at` until the next version."""

    pk = models.CompositePrimaryKey("compensation_id", "number")
    compensation = models.ForeignKey(Compensation, models.DO_NOTHING, related_name="versions", db_index=False)
    number = models.IntegerField()
    known_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=CompensationState)
    external_ref = models.CharField(max_length=255, blank=True)
    settled_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=CompensationState.values),
                name="ledger_compensationversion_state_is_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.compensation_id} version {self.number}: {self.state}"


class DisputeVersion(models.Model):
    """A dispute as it was known from `known_at` until the next version."""

    pk = models.CompositePrimaryKey("dispute_id", "number")
    dispute = models.ForeignKey(Dispute, models.DO_NOTHING, related_name="versions", db_index=False)
    number = models.IntegerField()
    known_at = models.DateTimeField()
    status = models.CharField(max_length=64)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    closed_at = models.DateTimeField(null=True)
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    def __str__(self) -> str:
        return f"{self.dispute_id} version {self.number}: {self.status}"
