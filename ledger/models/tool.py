"""The tool registry: which tools touch the world, and what a re-run of one may do."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import Realm
from ledger.vocabulary import AmountUnit, Effectful, GuardReason, KeyScope, Operation, ReplayPolicy


class ToolPolicy(models.Model):
    """What is known of one tool. A tool that is not registered counts as effectful, `ask`.

    `rule` (for `by_rule`) is a list of conditions on arguments, all of which
    must hold for a call to be effectful: {"path", "is", "value"}; see
    docs/ledger.md.
    """

    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    name = models.CharField(max_length=255)
    effectful = models.CharField(max_length=8, choices=Effectful)
    rule = models.JSONField(default=list, blank=True)
    replay_policy = models.CharField(max_length=8, choices=ReplayPolicy)
    key_scope = models.CharField(max_length=12, choices=KeyScope, default=KeyScope.BRANCH_ROOT)
    operation = models.CharField(max_length=10, choices=Operation, default=Operation.CHARGE)
    processor = models.CharField(max_length=32, blank=True)
    amount_path = models.CharField(
        max_length=255, blank=True, help_text="Where the arguments hold the amount: steps joined by dots."
    )
    amount_unit = models.CharField(max_length=5, choices=AmountUnit, default=AmountUnit.MINOR)
    currency_path = models.CharField(max_length=255, blank=True)
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "tool policies"
        constraints = [
            models.UniqueConstraint(fields=["realm", "name"], name="ledger_tool_once_per_realm"),
            models.CheckConstraint(
                condition=~Q(effectful="no") | Q(replay_policy__in=["free", "metered"]),
                name="ledger_tool_without_effect_is_replayable",
            ),
            models.CheckConstraint(
                condition=Q(effectful__in=Effectful.values), name="ledger_tool_effectful_is_known"
            ),
            models.CheckConstraint(
                condition=Q(replay_policy__in=ReplayPolicy.values), name="ledger_tool_policy_is_known"
            ),
            models.CheckConstraint(
                condition=Q(key_scope__in=KeyScope.values), name="ledger_tool_key_scope_is_known"
            ),
            models.CheckConstraint(
                condition=Q(operation__in=Operation.values, amount_unit__in=AmountUnit.values),
                name="ledger_tool_operation_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ToolPolicyChange(models.Model):
    """One change of a tool's policy: who, when, and the values before and after. Append-only."""

    id = models.BigAutoField(primary_key=True)
    policy = models.ForeignKey(ToolPolicy, models.DO_NOTHING, related_name="changes")
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False
    )
    changed_at = models.DateTimeField()
    before = models.JSONField(null=True)
    after = models.JSONField()

    def __str__(self) -> str:
        return f"change of {self.policy_id}"


class GuardQuestion(models.Model):
    """An `ask` of the guard, put to a person: may this exact call go ahead?

    Bound to the digest of its arguments; answered once, used once.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    conversation_id = models.UUIDField()
    seq = models.IntegerField()
    call_id = models.CharField(max_length=255)
    tool_name = models.CharField(max_length=255)
    request_digest = models.BinaryField(max_length=32)
    reason = models.CharField(max_length=16, choices=GuardReason)
    earlier_effect = models.ForeignKey(
        "ledger.ToolEffect", models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    asked_at = models.DateTimeField()
    is_allowed = models.BooleanField(null=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    answered_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation_id", "seq", "call_id", "request_digest"],
                name="ledger_question_once_per_call",
            ),
            models.CheckConstraint(
                condition=Q(is_allowed__isnull=True, answered_by__isnull=True, answered_at__isnull=True)
                | Q(is_allowed__isnull=False, answered_by__isnull=False, answered_at__isnull=False),
                name="ledger_question_answered_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(used_at__isnull=True) | Q(is_allowed=True, is_allowed__isnull=False),
                name="ledger_question_used_if_allowed",
            ),
        ]
        indexes = [
            # What waits for an answer, oldest first.
            models.Index(fields=["asked_at"], name="question_open", condition=Q(is_allowed__isnull=True)),
        ]

    def __str__(self) -> str:
        return str(self.id)
