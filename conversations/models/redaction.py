"""Which secrets are cut out of what comes in, for whom, and where that was done."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from access.models import Realm
from conversations.models.account import Account
from conversations.models.conversation import Conversation
from conversations.vocabulary import BodySide, SecretKind


class RedactionSwitch(models.Model):
    """The kinds that are cut for one account, or for the accounts of a realm without a row of their own."""

    id = models.BigAutoField(primary_key=True)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    account = models.ForeignKey(Account, models.DB_CASCADE, null=True, related_name="+", db_index=False)
    kinds = ArrayField(models.CharField(max_length=10, choices=SecretKind), default=list)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    set_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kinds__contained_by=SecretKind.values),
                name="conversations_redaction_kinds_are_known",
            ),
            models.UniqueConstraint(
                fields=["realm", "account"],
                nulls_distinct=False,
                name="conversations_redaction_one_switch_each",
            ),
        ]
        indexes = [
            # Recording asks with the account; and the key that goes with it.
            models.Index(fields=["account"], name="redaction_account"),
        ]

    def __str__(self) -> str:
        return ", ".join(self.kinds) or "nothing is cut"


class RedactionSpan(models.Model):
    """One cut: its kind and its place, never what stood there.

    In a body the place is counted in characters of the cut body; in a part that
    was cut later, in characters of its text or payload.
    """

    id = models.BigAutoField(primary_key=True)
    conversation = models.ForeignKey(Conversation, models.DB_CASCADE, related_name="redactions")
    number = models.IntegerField(null=True, help_text="The attempt whose body was cut.")
    side = models.CharField(max_length=8, choices=BodySide)
    seq = models.IntegerField(null=True)
    ordinal = models.SmallIntegerField(null=True)
    kind = models.CharField(max_length=10, choices=SecretKind)
    start = models.IntegerField()
    end = models.IntegerField()
    cut_at = models.DateTimeField()
    reported_false_at = models.DateTimeField(null=True, help_text="Somebody says that it was no secret.")
    reported_false_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=SecretKind.values, side__in=BodySide.values),
                name="conversations_redactionspan_kind_is_known",
            ),
            models.CheckConstraint(
                condition=Q(start__gte=0, end__gt=models.F("start")),
                name="conversations_redactionspan_is_not_empty",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.start}-{self.end}"
