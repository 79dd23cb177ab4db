"""Who looked at what, and on which ground. Rows are appended and read; nothing else."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.actors import ActorKind
from access.models.realm import Realm


class AccessAction(models.TextChoices):
    OPEN = "open"
    REVEAL = "reveal"
    SEARCH_PERSON = "search_person"
    EXPORT = "export"
    DOWNLOAD = "download"
    RAW = "raw"
    STATE_REASON = "state_reason"
    CLOSE = "close"
    JOB_START = "job_start"
    CHANGE = "change"
    REFUSED = "refused"
    SIGN_IN = "sign_in"
    SIGN_OUT = "sign_out"
    SIGN_IN_FAILED = "sign_in_failed"
    API_READ = "api_read"


class TargetKind(models.TextChoices):
    CONVERSATION = "conversation"
    MESSAGE = "message"
    ATTEMPT = "attempt"
    ACCOUNT = "account"
    EFFECT = "effect"
    LIST = "list"
    JOB = "job"
    KEY = "key"
    POLICY = "policy"
    HOLD = "hold"
    ERASURE = "erasure"
    FINDING = "finding"
    STATEMENT = "statement"
    PAGE = "page"
    USER = "user"


class StatedReason(models.Model):
    """Why a member of staff opened a conversation, good for it until `valid_until`.

    What was typed stands here and not in the log, so that erasure can empty it.
    `conversation_id` is no key: this app knows nothing of the store above it.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False)
    conversation_id = models.UUIDField()
    ticket = models.CharField(max_length=64, blank=True)
    words = models.TextField(blank=True)
    stated_at = models.DateTimeField()
    valid_until = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(valid_until__gte=models.F("stated_at")), name="access_reason_ends_after_it_began"
            ),
        ]
        indexes = [
            # The gate of the conversation page: is there a reason that still holds?
            models.Index(fields=["user", "conversation_id", "-valid_until"], name="reason_of_user"),
            # Erasure empties what was typed about a conversation.
            models.Index(fields=["conversation_id"], name="reason_conversation"),
        ]

    def __str__(self) -> str:
        return self.ticket


class AccessEntry(models.Model):
    """One line of the access log: ids, numbers, times and closed choices, never words."""

    id = models.BigAutoField(primary_key=True)
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=16, choices=ActorKind)
    actor_id = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=16, choices=AccessAction)
    target_kind = models.CharField(max_length=16, choices=TargetKind)
    target_id = models.CharField(max_length=255, blank=True)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    conversation_id = models.UUIDField(null=True)
    account_id = models.UUIDField(null=True)
    reason_id = models.UUIDField(null=True, help_text="The stated reason; its words may have been erased.")
    row_count = models.IntegerField(null=True, help_text="How many rows an export held.")
    address = models.GenericIPAddressField(null=True)

    class Meta:
        verbose_name_plural = "access entries"
        constraints = [
            models.CheckConstraint(
                condition=Q(action__in=AccessAction.values), name="access_entry_action_is_known"
            ),
            models.CheckConstraint(
                condition=Q(target_kind__in=TargetKind.values), name="access_entry_target_is_known"
            ),
            models.CheckConstraint(
                condition=Q(actor_kind__in=ActorKind.values), name="access_entry_actor_is_known"
            ),
        ]
        indexes = [
            # The log's page: newest first, by key; and its purge by age.
            models.Index(fields=["-at", "-id"], name="entry_at"),
            # One person's accesses.
            models.Index(fields=["actor_id", "-at"], name="entry_actor"),
            # All of one kind: every refusal, every export.
            models.Index(fields=["action", "-at"], name="entry_action"),
            # Who looked at this conversation, this account.
            models.Index(
                fields=["conversation_id", "-at"],
                name="entry_conversation",
                condition=Q(conversation_id__isnull=False),
            ),
            models.Index(
                fields=["account_id", "-at"], name="entry_account", condition=Q(account_id__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target_kind} {self.target_id}"


class LogFloor(models.Model):
    """How long the access log is kept at least: one row, which only the owner's role may change.

    No policy goes below it: `access_purge_log` asks here before it deletes.
    """

    id = models.SmallIntegerField(primary_key=True)
    days = models.IntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="access_logfloor_is_one_row"),
            models.CheckConstraint(condition=Q(days__gte=30), name="access_logfloor_at_least_a_month"),
        ]

    def __str__(self) -> str:
        return f"{self.days} days"
