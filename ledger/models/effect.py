"""Effects: what tool calls did to the world, and every move of their state with its evidence."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import NullIf

from access.actors import ActorKind
from access.models import Realm
from conversations.ends import end_of
from conversations.models import Account, RawBody
from conversations.writing_order import NextInOrder
from ledger.vocabulary import (
    LEGAL_MOVES,
    EffectState,
    EvidenceSource,
    KeyScope,
    Operation,
    ReferenceKind,
    Standing,
)


class ToolEffect(models.Model):
    """One operation at a processor, caused by one tool call, under one idempotency key.

    The row is committed before anything is sent; `sent_at` before the socket
    opens, so null proves that nothing left. State, `move` and the last
    EffectMove agree, or the transaction fails. Amounts are minor units as the
    processor counts them. Once detached, the call's conversation may go: the
    row, its ids and its money stay.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    # The index of keys begins with the realm.
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    account = models.ForeignKey(Account, models.DO_NOTHING, null=True, related_name="effects", db_index=False)
    account_pseudonym = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Stands in once the person is erased."
    )
    conversation_id = models.UUIDField()
    call_seq = models.IntegerField(null=True, help_text="Null once detached.")
    call_id = models.CharField(max_length=255)
    detached_at = models.DateTimeField(null=True)
    detached_seq = models.IntegerField(null=True)
    detached_standing = models.CharField(max_length=10, choices=Standing, null=True)
    tool_name = models.CharField(max_length=255)
    operation = models.CharField(max_length=10, choices=Operation)

    idempotency_key = models.CharField(max_length=255)
    key_scope = models.CharField(max_length=12, choices=KeyScope)
    key_root_seq = models.IntegerField(null=True, help_text="The branch root that the key was made from.")
    key_counter = models.IntegerField(default=1, help_text="Equal calls below the root, this one included.")
    request_digest = models.BinaryField(max_length=32)

    processor = models.CharField(max_length=32)
    find_by = models.JSONField(default=dict, help_text="Ids by which the processor can be asked.")
    state = models.CharField(max_length=12, choices=EffectState)
    move = models.IntegerField(default=1)
    external_ref = models.CharField(max_length=255, blank=True, default="", db_default="")
    amount_minor = models.BigIntegerField(null=True)
    amount_settled_minor = models.BigIntegerField(null=True)
    amount_compensated_minor = models.BigIntegerField(default=0, db_default=0)
    amount_reserved_minor = models.BigIntegerField(default=0, db_default=0)
    currency = models.CharField(max_length=3, blank=True, default="", db_default="")
    compensated_by = models.CharField(
        max_length=255,
        blank=True,
        default="",
        db_default="",
        help_text="The movement that completed the whole.",
    )
    requested_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    sent_order = models.BigIntegerField(
        null=True, help_text="When `sent_at` was written, in the order of writing."
    )
    settled_at = models.DateTimeField(null=True)
    looked_at = models.DateTimeField(null=True, help_text="When the sweeper last asked the processor.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["realm", "idempotency_key"], name="ledger_effect_key_once_per_realm"
            ),
            models.CheckConstraint(
                condition=Q(state__in=EffectState.values), name="ledger_effect_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(call_seq__isnull=True, detached_at__isnull=False, detached_standing__isnull=False)
                | Q(call_seq__isnull=False, detached_at__isnull=True, detached_standing__isnull=True),
                name="ledger_effect_detached_as_a_whole",
            ),
            models.CheckConstraint(
                condition=Q(key_scope__in=KeyScope.values, key_counter__gte=1),
                name="ledger_effect_key_scope_is_known",
            ),
            models.CheckConstraint(
                condition=Q(operation__in=Operation.values), name="ledger_effect_operation_is_known"
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__isnull=True) | (Q(amount_minor__gte=0) & ~Q(currency="")),
                name="ledger_effect_amount_has_currency",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["applied", "compensated"])
                | (~Q(external_ref="") & Q(settled_at__isnull=False)),
                name="ledger_effect_applied_has_reference",
            ),
            models.CheckConstraint(
                condition=Q(state="compensated") | Q(compensated_by=""),
                name="ledger_effect_compensated_by_when_whole",
            ),
            models.CheckConstraint(
                condition=Q(amount_compensated_minor__gte=0, amount_reserved_minor__gte=0),
                name="ledger_effect_sums_not_negative",
            ),
            models.UniqueConstraint(fields=["id", "currency"], name="ledger_effect_currency_key"),
            # Also read: effects beside their calls on the conversation page, abandoned charges.
            models.UniqueConstraint(
                fields=["conversation_id", "call_seq", "call_id"], name="ledger_effect_once_per_call"
            ),
        ]
        indexes = [
            # An account's effects and its statement.
            models.Index(fields=["account", "-requested_at"], name="effect_account"),
            # The effects list: newest first, by key.
            models.Index(fields=["-requested_at", "-id"], name="effect_requested"),
            # The sweeper: open effects by age.
            models.Index(fields=["requested_at"], name="effect_open", condition=Q(state="pending")),
            # The search box and matching: the processor's own id.
            models.Index(
                fields=["external_ref"],
                name="effect_external_ref",
                condition=~Q(external_ref=""),
                opclasses=["varchar_pattern_ops"],
            ),
            # The search box: ids by their end.
            models.Index(end_of("id"), name="effect_end"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class EffectMove(models.Model):
    """One move of an effect's state, with the evidence for it. Never updated or deleted.

    Holds ids, numbers, times and closed choices, never words. `from_state` must
    be what the move before ended in, which a key holds.
    """

    pk = models.CompositePrimaryKey("effect_id", "number")
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, related_name="moves", db_index=False)
    number = models.IntegerField()
    from_state = models.CharField(max_length=12, blank=True)
    to_state = models.CharField(max_length=12, choices=EffectState)
    moved_at = models.DateTimeField()
    moved_by_kind = models.CharField(max_length=16, choices=ActorKind)
    moved_by_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    source = models.CharField(max_length=10, choices=EvidenceSource)
    evidence_ref = models.CharField(
        max_length=255, blank=True, default="", db_default="", help_text="The processor's object or event."
    )
    evidence_status = models.CharField(max_length=64, blank=True, default="", db_default="")
    evidence_amount_minor = models.BigIntegerField(null=True)
    evidence_at = models.DateTimeField(null=True, help_text="The processor's own time.")
    raw = models.ForeignKey(RawBody, models.DB_SET_NULL, null=True, related_name="+", db_index=False)
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)
    prev = models.GeneratedField(
        expression=NullIf(F("number") - 1, 0), output_field=models.IntegerField(), db_persist=True
    )
    prev_state = models.GeneratedField(
        expression=NullIf(F("from_state"), models.Value("")),
        output_field=models.CharField(max_length=12),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    *[Q(from_state=before, to_state=after) for before, after in LEGAL_MOVES], _connector="OR"
                ),
                name="ledger_effectmove_is_legal",
            ),
            models.CheckConstraint(
                condition=Q(number=1, from_state="") | (Q(number__gt=1) & ~Q(from_state="")),
                name="ledger_effectmove_begins_once",
            ),
            models.CheckConstraint(
                condition=Q(source__in=EvidenceSource.values), name="ledger_effectmove_source_is_known"
            ),
            models.CheckConstraint(
                condition=Q(source__in=["begin", "absent"]) | ~Q(evidence_ref=""),
                name="ledger_effectmove_has_evidence",
            ),
            models.CheckConstraint(
                condition=~Q(source="begin") | Q(number=1), name="ledger_effectmove_only_the_first_begins"
            ),
            models.UniqueConstraint(
                fields=["effect", "number", "to_state"], name="ledger_effectmove_line_of_a_state"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.effect_id} move {self.number} to {self.to_state}"


class EffectReference(models.Model):
    """An id by which the processor knows an effect: intent, charge, balance movement, our own key."""

    id = models.BigAutoField(primary_key=True)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, related_name="references")
    processor = models.CharField(max_length=32)
    kind = models.CharField(max_length=16, choices=ReferenceKind)
    reference = models.CharField(max_length=255)
    seen_at = models.DateTimeField()
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    class Meta:
        constraints = [
            # Also read by the search box, which knows the reference alone.
            models.UniqueConstraint(
                fields=["reference", "processor", "effect"], name="ledger_reference_once_per_effect"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=ReferenceKind.values), name="ledger_reference_kind_is_known"
            ),
        ]
        indexes = [
            # The search box: ids that begin so.
            models.Index(fields=["reference"], name="reference_prefix", opclasses=["varchar_pattern_ops"]),
            # And ids by their end.
            models.Index(end_of("reference"), name="reference_end"),
        ]

    def __str__(self) -> str:
        return self.reference


class EffectUse(models.Model):
    """Another call that was given an effect's outcome instead of a second operation.

    The effect lives on every branch that used it.
    """

    pk = models.CompositePrimaryKey("conversation_id", "seq", "call_id")
    conversation_id = models.UUIDField()
    seq = models.IntegerField()
    call_id = models.CharField(max_length=255)
    effect = models.ForeignKey(ToolEffect, models.DO_NOTHING, related_name="uses")
    used_at = models.DateTimeField()
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    def __str__(self) -> str:
        return f"{self.conversation_id}#{self.seq} {self.call_id}"
