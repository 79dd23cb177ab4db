"""Findings: differences that a person must settle, across all runs that see them."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.actors import ActorKind
from access.models import Realm
from conversations.models import Account
from ledger.models.compensation import Compensation
from ledger.models.effect import ToolEffect
from ledger.models.reconciliation import ReconciliationRun
from ledger.reconciliation.vocabulary import (
    AlertChannel,
    AlertKind,
    FindingAction,
    FindingKind,
    FindingState,
    Resolution,
)


class Finding(models.Model):
    """One difference, first seen by one run and perhaps gone in a later one.

    Values are those of the last run that saw it; what earlier ones saw is in
    their sightings. An open one blocks the purge of its conversation.
    """

    id = models.BigAutoField(primary_key=True)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    processor = models.CharField(max_length=32)
    kind = models.CharField(max_length=24, choices=FindingKind)
    subject = models.CharField(max_length=255)
    state = models.CharField(max_length=8, choices=FindingState)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, null=True, related_name="findings")
    account = models.ForeignKey(Account, models.DB_SET_NULL, null=True, related_name="+")
    compensation_id = models.UUIDField(null=True)
    reference = models.CharField(max_length=255, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    amount_minor = models.BigIntegerField(null=True)
    occurred_at = models.DateTimeField()
    facts = models.JSONField(default=dict)
    first_run = models.ForeignKey(ReconciliationRun, models.DO_NOTHING, related_name="+", db_index=False)
    last_run = models.ForeignKey(ReconciliationRun, models.DO_NOTHING, related_name="+", db_index=False)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    judged_as_of = models.DateTimeField(
        help_text="The cut-off of the last run that saw it or found it gone; earlier ones do not count."
    )
    due_at = models.DateTimeField()
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    resolution = models.CharField(max_length=12, choices=Resolution, blank=True, default="", db_default="")
    resolved_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    reopened = models.IntegerField(default=0, db_default=0)
    compensation_asked = models.ForeignKey(
        Compensation, models.DO_NOTHING, null=True, related_name="+", help_text="The refund asked for here."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["realm", "processor", "kind", "subject"], name="ledger_finding_once_per_subject"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=FindingKind.values), name="ledger_finding_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state="open", resolved_at__isnull=True, closed_at__isnull=True, resolution="")
                | (Q(state="resolved", resolved_at__isnull=False) & ~Q(resolution=""))
                | Q(state="closed", closed_at__isnull=False),
                name="ledger_finding_end_has_its_time",
            ),
        ]
        indexes = [
            # The desk: open findings, oldest first; ageing and totals by owner.
            models.Index(fields=["first_seen_at", "id"], name="finding_open", condition=Q(state="open")),
            # The desk's other lists, newest first.
            models.Index(fields=["state", "-last_seen_at", "-id"], name="finding_state"),
            # The search box: the processor's id leads to what was found about it.
            models.Index(fields=["reference"], name="finding_reference", condition=~Q(reference="")),
        ]

    def __str__(self) -> str:
        return f"F-{self.id}"


class FindingEvent(models.Model):
    """One thing that happened to a finding. Append-only: ids, times and closed choices, never words."""

    id = models.BigAutoField(primary_key=True)
    finding = models.ForeignKey(Finding, models.DO_NOTHING, related_name="events")
    at = models.DateTimeField()
    action = models.CharField(max_length=12, choices=FindingAction)
    actor_kind = models.CharField(max_length=16, choices=ActorKind)
    actor_id = models.CharField(max_length=64, blank=True)
    run = models.ForeignKey(ReconciliationRun, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Whom it was assigned to.",
    )
    resolution = models.CharField(max_length=12, choices=Resolution, blank=True)
    compensation_id = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(action__in=FindingAction.values), name="ledger_findingevent_action_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(action="resolved") | ~Q(resolution=""),
                name="ledger_findingevent_resolution_is_named",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.finding_id}"


class FindingComment(models.Model):
    """What a person wrote about a finding. Erasure may empty it."""

    id = models.BigAutoField(primary_key=True)
    finding = models.ForeignKey(Finding, models.DO_NOTHING, related_name="comments")
    event = models.OneToOneField(FindingEvent, models.DO_NOTHING, related_name="comment")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False)
    text = models.TextField(blank=True)
    written_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"comment on {self.finding_id}"


class Alert(models.Model):
    """A message that is due to go out: written with what it tells of, sent once by a worker.

    `about` says what happened, once: the same thing makes no second alert.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=12, choices=AlertKind)
    channel = models.CharField(max_length=8, choices=AlertChannel)
    about = models.CharField(max_length=128)
    run = models.ForeignKey(ReconciliationRun, models.DO_NOTHING, null=True, related_name="alerts")
    payload = models.JSONField(help_text="Ids, amounts and times; no words of customers.")
    written_at = models.DateTimeField()
    attempts = models.IntegerField(default=0, db_default=0)
    next_attempt_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=255, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["about", "channel"], name="ledger_alert_once"),
            models.CheckConstraint(
                condition=Q(kind__in=AlertKind.values, channel__in=AlertChannel.values),
                name="ledger_alert_kind_is_known",
            ),
        ]
        indexes = [
            # What a worker has to send.
            models.Index(
                fields=["next_attempt_at"],
                name="alert_due",
                condition=Q(sent_at__isnull=True, given_up_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.about}"
