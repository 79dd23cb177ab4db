"""Compensations: movements that answer an applied effect, in part or in full."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from conversations.ends import end_of
from ledger.models.effect import ToolEffect
from ledger.vocabulary import CompensationOrigin, CompensationReason, CompensationState


class Compensation(models.Model):
    """One movement against an effect: ours (requested, approved, sent) or seen at the processor.

    Ours is asked for by one person and approved by another. From the request
    on, its amount is reserved on the effect, so that requests never add up past
    what was settled. What was made in the processor's dashboard is recorded as
    it is, never refused.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, related_name="compensations")
    origin = models.CharField(max_length=12, choices=CompensationOrigin)
    state = models.CharField(max_length=10, choices=CompensationState)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=20, choices=CompensationReason, blank=True)
    idempotency_key = models.CharField(max_length=255, blank=True)
    external_ref = models.CharField(max_length=255, blank=True, default="", db_default="")
    failure_code = models.CharField(max_length=128, blank=True, default="", db_default="")
    looked_at = models.DateTimeField(null=True, help_text="When the processor was last asked for it.")

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    requested_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    decided_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True, help_text="May be long after it had settled.")
    known_at = models.DateTimeField(
        help_text="Since when we know it as it is. Never runs backwards; each change is kept as a version."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0), name="ledger_compensation_amount_positive"
            ),
            models.CheckConstraint(
                condition=Q(state__in=CompensationState.values), name="ledger_compensation_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=True) | ~Q(decided_by=F("requested_by")),
                name="ledger_compensation_two_people",
            ),
            models.CheckConstraint(
                condition=Q(origin="processor")
                | Q(state="requested", decided_by__isnull=True)
                | Q(decided_by__isnull=False, decided_at__isnull=False),
                name="ledger_compensation_decided_before_sent",
            ),
            models.CheckConstraint(
                condition=Q(origin="processor")
                | (Q(requested_by__isnull=False) & ~Q(reason="") & ~Q(idempotency_key="")),
                name="ledger_compensation_ours_is_asked_for",
            ),
            models.CheckConstraint(
                condition=~Q(state="settled") | (~Q(external_ref="") & Q(settled_at__isnull=False)),
                name="ledger_compensation_settled_by_evidence",
            ),
            models.UniqueConstraint(
                fields=["idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="ledger_compensation_key_once",
            ),
            models.UniqueConstraint(
                fields=["effect", "external_ref"],
                condition=~Q(external_ref=""),
                name="ledger_compensation_reference_once",
            ),
        ]
        indexes = [
            # Decisions that wait for a person, and refunds that wait for a worker.
            models.Index(
                fields=["state", "requested_at"],
                name="compensation_waiting",
                condition=Q(state__in=["requested", "approved", "sent"]),
            ),
            # The search box: re_ and its kin.
            models.Index(
                fields=["external_ref"],
                name="compensation_external_ref",
                condition=~Q(external_ref=""),
                opclasses=["varchar_pattern_ops"],
            ),
            # And ids by their end.
            models.Index(end_of("external_ref"), name="compensation_ref_end", condition=~Q(external_ref="")),
        ]

    def __str__(self) -> str:
        return str(self.id)


class CompensationNote(models.Model):
    """What a person wrote when asking for or deciding on a compensation. Erasure may empty it."""

    compensation = models.ForeignKey(Compensation, models.DO_NOTHING, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False)
    text = models.TextField(blank=True)
    written_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"note on {self.compensation_id}"


class Dispute(models.Model):
    """A customer's dispute of a charge with their bank. An open one holds its conversation."""

    id = models.UUIDField(primary_key=True, editable=False)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, null=True, related_name="disputes")
    processor = models.CharField(max_length=32)
    external_ref = models.CharField(max_length=255)
    charge_ref = models.CharField(max_length=255)
    status = models.CharField(max_length=64)
    reason = models.CharField(max_length=64, blank=True)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(help_text="The processor's time of the newest state that was taken in.")
    known_at = models.DateTimeField(
        help_text="Since when we know it as it is. Never runs backwards; each change is kept as a version."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["processor", "external_ref"], name="ledger_dispute_once_per_reference"
            ),
        ]
        indexes = [
            # Open disputes hold what they touch.
            models.Index(fields=["effect"], name="dispute_open", condition=Q(closed_at__isnull=True)),
            # The search box: dp_ and du_; and the disputes of a charge.
            models.Index(
                fields=["external_ref"], name="dispute_external_ref", opclasses=["varchar_pattern_ops"]
            ),
            models.Index(fields=["charge_ref"], name="dispute_charge_ref"),
            models.Index(end_of("external_ref"), name="dispute_end"),
        ]

    def __str__(self) -> str:
        return self.external_ref
