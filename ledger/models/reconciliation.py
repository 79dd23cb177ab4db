"""Reconciliation runs: frozen inputs, the rows that were matched with their values, and what was found."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.actors import ActorKind
from access.models import Realm
from conversations.ends import end_of
from conversations.writing_order import NextInOrder
from jobs.models import JobRun
from ledger.models.effect import ToolEffect
from ledger.models.statement import Statement, StatementLine
from ledger.reconciliation.vocabulary import FindingKind, MatchedBy
from ledger.statements.vocabulary import LineKind


class ReconciliationPolicy(models.Model):
    """How long a difference may wait before it is one; of a realm, or the default where none is set."""

    realm = models.OneToOneField(Realm, models.DO_NOTHING, primary_key=True, related_name="+")
    answer_hours = models.IntegerField(default=1, help_text="An effect without an answer is late after this.")
    statement_hours = models.IntegerField(
        default=24, help_text="What only one side knows is late after this."
    )
    due_hours = models.IntegerField(default=72, help_text="A finding should be settled within this.")
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "reconciliation policies"
        constraints = [
            models.CheckConstraint(
                condition=Q(answer_hours__gte=0, statement_hours__gte=0, due_hours__gte=0),
                name="ledger_reconciliationpolicy_hours_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"waiting times of {self.realm_id}"


class ReconciliationRun(models.Model):
    """One comparison of ledger, processor and conversations, as of a moment.

    The ledger is read as it was known at `cut_off` and written when the run was
    asked for; movements are those that happened from `since` to `until`. The
    inputs are frozen when the run is asked for; the same inputs give the same
    report, byte for byte.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+")
    processor = models.CharField(max_length=32)
    since = models.DateTimeField()
    until = models.DateTimeField(help_text="Not included.")
    cut_off = models.DateTimeField()
    written_before = models.BigIntegerField(
        help_text="What has this number or a greater one was written after the run was asked for."
    )
    decisions_until = models.DateTimeField(help_text="Confirmed matches count if they are not younger.")
    judges_unknown = models.BooleanField(
        default=True, help_text="Whether movements that no realm knows are findings of this run."
    )
    policy = models.JSONField()
    repeats = models.ForeignKey(
        "self", models.DO_NOTHING, null=True, related_name="repetitions", help_text="The run done again."
    )
    job = models.ForeignKey(JobRun, models.DB_SET_NULL, null=True, related_name="+")
    requested_at = models.DateTimeField()
    requested_by_kind = models.CharField(max_length=16, choices=ActorKind)
    requested_by_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    finished_at = models.DateTimeField(null=True)
    report = models.TextField(blank=True, default="", db_default="", help_text="Canonical JSON.")
    report_sha256 = models.BinaryField(max_length=32, null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(until__gt=F("since"), cut_off__gte=F("until")),
                name="ledger_reconciliationrun_cut_off_after_its_period",
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, report_sha256__isnull=True)
                | Q(finished_at__isnull=False, report_sha256__isnull=False),
                name="ledger_reconciliationrun_report_with_its_digest",
            ),
        ]
        indexes = [
            # The list of runs: newest first, by key.
            models.Index(fields=["-requested_at", "-id"], name="reconciliation_requested"),
            # The search box: a run by its report's digest, and by its id's end.
            models.Index(
                fields=["report_sha256"],
                name="reconciliation_sha256",
                condition=Q(report_sha256__isnull=False),
            ),
            models.Index(end_of("id"), name="reconciliation_end"),
        ]

    def __str__(self) -> str:
        return f"{self.processor} {self.since:%Y-%m-%d} to {self.until:%Y-%m-%d}"


class RunInput(models.Model):
    """A statement that a run compares with; of two that speak of one object, the later one counts."""

    pk = models.CompositePrimaryKey("run_id", "position")
    run = models.ForeignKey(ReconciliationRun, models.DB_CASCADE, related_name="inputs", db_index=False)
    position = models.IntegerField()
    statement = models.ForeignKey(Statement, models.DO_NOTHING, related_name="+")
    sha256 = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return f"{self.run_id} input {self.position}"


class RunRow(models.Model):
    """One movement and its row of the ledger, with the values that a run saw. Never updated.

    Amounts carry the sign that they have for the merchant. `ledger_currency` is
    set where it is another than the processor's.
    """

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(ReconciliationRun, models.DB_CASCADE, related_name="rows", db_index=False)
    kind = models.CharField(max_length=16, choices=LineKind)
    reference = models.CharField(max_length=255)
    matched_by = models.CharField(max_length=12, choices=MatchedBy)
    line = models.ForeignKey(StatementLine, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    line_count = models.IntegerField()
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    compensation_id = models.UUIDField(null=True)
    occurred_at = models.DateTimeField()
    currency = models.CharField(max_length=3)
    ledger_currency = models.CharField(max_length=3, blank=True)
    ledger_state = models.CharField(max_length=12, blank=True)
    ledger_minor = models.BigIntegerField()
    processor_state = models.CharField(max_length=8, blank=True)
    processor_minor = models.BigIntegerField()
    is_counted = models.BooleanField(
        help_text="In the tie-out; false for what happened outside the run's period."
    )
    is_waiting = models.BooleanField(help_text="A difference that is not late yet.")
    is_explained = models.BooleanField(help_text="Whether the cause of its difference is known.")

    class Meta:
        constraints = [
            # Also read: whether this run has seen a movement already.
            models.UniqueConstraint(
                fields=["run", "reference", "kind"], name="ledger_runrow_once_per_movement"
            ),
            models.CheckConstraint(
                condition=Q(matched_by__in=MatchedBy.values), name="ledger_runrow_match_is_known"
            ),
            models.CheckConstraint(condition=Q(kind__in=LineKind.values), name="ledger_runrow_kind_is_known"),
        ]
        indexes = [
            # Whether this run has seen an effect already; the runs of an effect.
            models.Index(fields=["effect", "run"], name="runrow_effect", condition=Q(effect__isnull=False)),
            # The rows of a run, newest first, by key; and of one way of matching.
            models.Index(fields=["run", "-occurred_at", "-id"], name="runrow_moment"),
            models.Index(fields=["run", "matched_by", "id"], name="runrow_matched"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.reference}"


class Sighting(models.Model):
    """What one run found, with the values as they were then."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey(ReconciliationRun, models.DB_CASCADE, related_name="sightings", db_index=False)
    kind = models.CharField(max_length=24, choices=FindingKind)
    subject = models.CharField(max_length=255, help_text="What it is about; the same in every run.")
    finding = models.ForeignKey("ledger.Finding", models.DO_NOTHING, null=True, related_name="sightings")
    is_new = models.BooleanField(default=False, db_default=False)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    compensation_id = models.UUIDField(null=True)
    reference = models.CharField(max_length=255, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    amount_minor = models.BigIntegerField(null=True)
    occurred_at = models.DateTimeField()
    facts = models.JSONField(default=dict, help_text="Ids, numbers and closed choices, never words.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "kind", "subject"], name="ledger_sighting_once_per_run"),
            models.CheckConstraint(
                condition=Q(kind__in=FindingKind.values), name="ledger_sighting_kind_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class MatchDecision(models.Model):
    """A person's word on a suggested match. Append-only; a later one is another row, and wins."""

    id = models.BigAutoField(primary_key=True)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    processor = models.CharField(max_length=32)
    reference = models.CharField(max_length=255)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, related_name="+")
    is_confirmed = models.BooleanField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False
    )
    decided_at = models.DateTimeField()
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    class Meta:
        indexes = [
            # What was decided about a movement that nothing else ties to the ledger.
            models.Index(fields=["reference", "processor"], name="matchdecision_reference"),
        ]

    def __str__(self) -> str:
        return f"{self.reference} {'is' if self.is_confirmed else 'is not'} {self.effect_id}"
