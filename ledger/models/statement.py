"""Statements: what the processor says has moved, line by line, as it was handed over."""

from django.db import models
from django.db.models import F, Q

from access.actors import ActorKind
from access.models import Realm
from conversations.ends import end_of
from conversations.models import RawBody
from ledger.statements.vocabulary import AmountStyle, LineKind, LineStatus, StatementFormat


class Statement(models.Model):
    """One export of a processor, or one window of its lists. The same content twice is one statement.

    Written in one transaction with all its lines, and never changed.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+")
    processor = models.CharField(max_length=32)
    format = models.CharField(max_length=16, choices=StatementFormat)
    name = models.CharField(max_length=255, help_text="The file's name, or what was asked of the processor.")
    sha256 = models.BinaryField(max_length=32)
    size = models.BigIntegerField()
    period_start = models.DateTimeField()
    period_end = models.DateTimeField(help_text="Not included.")
    zone = models.CharField(max_length=64, help_text="The zone that its dates are written in.")
    amount_style = models.CharField(max_length=5, choices=AmountStyle)
    lists_refunds = models.BooleanField(help_text="False where refunds are only summed up by charge.")
    header = models.TextField(blank=True, default="", db_default="")
    line_count = models.IntegerField()
    skipped_count = models.IntegerField()
    imported_at = models.DateTimeField()
    imported_by_kind = models.CharField(max_length=16, choices=ActorKind)
    imported_by_id = models.CharField(max_length=64, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["realm", "processor", "sha256"], name="ledger_statement_content_once_per_realm"
            ),
            models.CheckConstraint(
                condition=Q(format__in=StatementFormat.values), name="ledger_statement_format_is_known"
            ),
            models.CheckConstraint(
                condition=Q(amount_style__in=AmountStyle.values), name="ledger_statement_amounts_are_known"
            ),
            models.CheckConstraint(
                condition=Q(period_end__gt=F("period_start")), name="ledger_statement_period_ends_later"
            ),
        ]
        indexes = [
            # The list of statements: newest first, by key.
            models.Index(fields=["-imported_at", "-id"], name="statement_imported"),
            # The search box: a file by its name, by its digest, and by its id's end.
            models.Index(fields=["name"], name="statement_name", opclasses=["varchar_pattern_ops"]),
            models.Index(fields=["sha256"], name="statement_sha256"),
            models.Index(end_of("id"), name="statement_end"),
        ]

    def __str__(self) -> str:
        return self.name


class StatementLine(models.Model):
    """One line of a statement, read; or kept with its trouble, where it could not be.

    `raw`, `raw_offset` and `raw_size` lead to its bytes as they came. What the
    line says is never updated.
    """

    id = models.BigAutoField(primary_key=True)
    statement = models.ForeignKey(Statement, models.DB_CASCADE, related_name="lines", db_index=False)
    number = models.IntegerField(help_text="The line of the file where it begins; the header is line 1.")
    kind = models.CharField(max_length=16, choices=LineKind)
    status = models.CharField(max_length=8, choices=LineStatus)
    said_kind = models.CharField(max_length=64, blank=True, help_text="The format's own word.")
    reference = models.CharField(max_length=255, blank=True)
    movement_ref = models.CharField(max_length=255, blank=True, help_text="The balance row, if it has one.")
    charge_ref = models.CharField(max_length=255, blank=True)
    intent_ref = models.CharField(max_length=255, blank=True)
    customer_ref = models.CharField(max_length=255, blank=True)
    amount_minor = models.BigIntegerField(null=True)
    refunded_minor = models.BigIntegerField(null=True)
    fee_minor = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3, blank=True)
    occurred_at = models.DateTimeField(null=True)
    effect_mark = models.UUIDField(null=True, help_text="The effect's id in the metadata.")
    key_mark = models.CharField(max_length=255, blank=True, help_text="The idempotency key in the metadata.")
    compensation_mark = models.UUIDField(null=True)
    trouble = models.CharField(max_length=255, blank=True)
    raw = models.ForeignKey(RawBody, models.DB_SET_NULL, null=True, related_name="+", db_index=False)
    raw_offset = models.IntegerField(null=True)
    raw_size = models.IntegerField(null=True)

    class Meta:
        constraints = [
            # Also read: a statement's lines in their order.
            models.UniqueConstraint(fields=["statement", "number"], name="ledger_line_once_per_number"),
            models.CheckConstraint(
                condition=Q(kind__in=LineKind.values, status__in=LineStatus.values),
                name="ledger_line_kind_is_known",
            ),
            models.CheckConstraint(
                condition=~Q(trouble="")
                | (Q(amount_minor__isnull=False, occurred_at__isnull=False) & ~Q(currency="")),
                name="ledger_line_is_read_or_in_trouble",
            ),
        ]
        indexes = [
            # Every line about one object, whichever statement it is in; the search box.
            models.Index(fields=["reference"], name="line_reference", condition=~Q(reference="")),
            # What else a charge's statement lines say: refunds and releases.
            models.Index(fields=["charge_ref"], name="line_charge", condition=~Q(charge_ref="")),
            # Two charges under one effect's mark.
            models.Index(fields=["effect_mark"], name="line_effect", condition=Q(effect_mark__isnull=False)),
            # Two charges under one key, where the metadata name no effect.
            models.Index(fields=["key_mark"], name="line_key", condition=~Q(key_mark="")),
            # The page of what could not be read.
            models.Index(fields=["statement", "number"], name="line_trouble", condition=~Q(trouble="")),
            # Deleting raw bodies empties this.
            models.Index(fields=["raw"], name="line_raw", condition=Q(raw__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.statement_id} line {self.number}"
