"""A long task as a row: who asked for it, how far it is, and how it ended."""

from django.db import models
from django.db.models import Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Right


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @classmethod
    def active(cls) -> list["RunState"]:
        return [cls.QUEUED, cls.RUNNING, cls.STOPPING]


class JobRun(models.Model):
    """One run of a job. Celery only wakes it: `kind` is the name of the task.

    A worker claims the row by a conditional update that counts the attempt and
    makes the token. Every batch commits together with its checkpoint, which
    names the token; a worker whose claim was taken away rolls its batch back.
    One active run per kind and scope.

    A run in the foreground is the work of the process that asked for it (a command
    at a terminal): claimed from the start, never queued, taken over by nobody. Its
    kind is no task.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    kind = models.CharField(max_length=128)
    scope = models.CharField(max_length=255, blank=True, default="", db_default="")
    parameters = models.JSONField(default=dict, blank=True)
    requested_by_kind = models.CharField(max_length=16)
    requested_by_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    reason = models.TextField(blank=True, default="", db_default="", help_text="Why a person started it.")
    is_dry_run = models.BooleanField(default=False, db_default=False)
    is_foreground = models.BooleanField(
        default=False, db_default=False, help_text="Only the process that asked for it can do it."
    )
    scheduled_for = models.DateTimeField(null=True, help_text="The beat that started it.")

    state = models.CharField(max_length=10, choices=RunState)
    attempt = models.SmallIntegerField(default=0, db_default=0)
    attempt_limit = models.SmallIntegerField(default=3, db_default=3)
    claim_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)

    cursor = models.JSONField(null=True, help_text="Where the next batch begins.")
    done = models.BigIntegerField(default=0, db_default=0)
    total = models.BigIntegerField(null=True)
    unit = models.CharField(max_length=32, blank=True, default="", db_default="")
    counts = models.JSONField(default=dict, help_text="By step, then by what was counted.")
    report = models.JSONField(null=True)
    error_code = models.CharField(max_length=128, blank=True, default="", db_default="")
    error = models.TextField(blank=True, default="", db_default="")
    error_place = models.CharField(max_length=255, blank=True, default="", db_default="")

    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        permissions = [("start_jobrun", "Can start a job"), ("stop_jobrun", "Can stop a job")]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "scope"],
                condition=Q(state__in=["queued", "running", "stopping"]),
                name="jobs_jobrun_one_active_per_scope",
            ),
            models.UniqueConstraint(
                fields=["kind", "scope", "scheduled_for"],
                condition=Q(scheduled_for__isnull=False),
                name="jobs_jobrun_once_per_beat",
            ),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="jobs_jobrun_state_is_known"),
            models.CheckConstraint(
                condition=Q(
                    state__in=["running", "stopping"], claim_token__isnull=False, lease_until__isnull=False
                )
                | (~Q(state__in=["running", "stopping"]) & Q(claim_token__isnull=True)),
                name="jobs_jobrun_running_is_claimed",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "stopping"], finished_at__isnull=True)
                | Q(state__in=["stopped", "succeeded", "failed"], finished_at__isnull=False),
                name="jobs_jobrun_end_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error_code=""), name="jobs_jobrun_failure_is_named"
            ),
            models.CheckConstraint(
                condition=Q(is_foreground=False) | ~Q(state="queued"),
                name="jobs_jobrun_foreground_is_not_queued",
            ),
        ]
        indexes = [
            # The list of runs: newest first, by key.
            models.Index(fields=["-queued_at", "-id"], name="jobrun_queued"),
            # The last run of each kind, beside the schedule.
            models.Index(fields=["kind", "-queued_at"], name="jobrun_kind"),
            # The sweeper: what is active, by lease.
            models.Index(
                fields=["lease_until"],
                name="jobrun_active",
                condition=Q(state__in=["queued", "running", "stopping"]),
            ),
            # The search box: a run by its id's end, and the import or export of a file by its digest.
            models.Index(Right(Cast("id", TextField()), 6), name="jobrun_end"),
            models.Index(
                KeyTextTransform("sha256", "report"), name="jobrun_file", condition=Q(is_foreground=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def is_active(self) -> bool:
        return self.state in RunState.active()
