"""The tree: messages, the parts they are made of, and the life of a tool call."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from conversations.models.conversation import Conversation
from conversations.models.storage import Blob
from conversations.vocabulary import (
    BranchReason,
    CallStatus,
    Dialect,
    PartBytes,
    PartStatus,
    PartType,
    Role,
)


class Message(models.Model):
    """What one person or model said in one go, hung below what it followed.

    Rows are written once. `answers_seq` names the message whose calls this one
    answers; `group_ordinal` is the atomic group that no cut may divide: a call
    and its results share it, and it ascends on every path.
    """

    pk = models.CompositePrimaryKey("conversation_id", "seq")
    conversation = models.ForeignKey(Conversation, models.DB_CASCADE, related_name="messages", db_index=False)
    seq = models.IntegerField()
    parent_seq = models.IntegerField(null=True)
    answers_seq = models.IntegerField(null=True)
    group_ordinal = models.GeneratedField(
        expression=Coalesce(F("answers_seq"), F("seq")), output_field=models.IntegerField(), db_persist=True
    )
    role = models.CharField(max_length=10, choices=Role)
    provider_role = models.CharField(max_length=64, blank=True, default="", db_default="")
    dialect = models.CharField(max_length=20, choices=Dialect, blank=True, default="", db_default="")
    shell = models.TextField(
        null=True, help_text="The message's JSON around its parts, where not the usual one."
    )
    path_digest = models.BinaryField(null=True, max_length=16)
    branch_reason = models.CharField(max_length=16, choices=BranchReason)
    is_hidden = models.BooleanField(default=False, db_default=False)
    client_message_id = models.CharField(max_length=255, null=True)
    token_count = models.IntegerField(null=True)
    occurred_at = models.DateTimeField(null=True, help_text="The caller's time; may be unknown.")
    created_at = models.DateTimeField()

    # The database holds the composite keys (see the migrations); these give joins and prefetching.
    parent = models.ForeignObject(
        "self",
        models.DO_NOTHING,
        from_fields=["conversation_id", "parent_seq"],
        to_fields=["conversation_id", "seq"],
        related_name="children",
        null=True,
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(seq__gte=1), name="conversations_message_seq_counts_from_one"),
            models.CheckConstraint(
                condition=Q(parent_seq__isnull=True) | Q(parent_seq__lt=F("seq")),
                name="conversations_message_parent_comes_before",
            ),
            models.CheckConstraint(
                condition=Q(answers_seq__isnull=True)
                | Q(parent_seq__isnull=False, answers_seq__lte=F("parent_seq")),
                name="conversations_message_answers_its_path",
            ),
            models.CheckConstraint(
                condition=Q(role__in=Role.values), name="conversations_message_role_is_known"
            ),
            models.CheckConstraint(
                condition=Q(branch_reason__in=BranchReason.values),
                name="conversations_message_branch_reason_is_known",
            ),
            models.CheckConstraint(
                condition=Q(dialect__in=["", *Dialect.values]), name="conversations_message_dialect_is_known"
            ),
            # The id leads, so that the search box finds a message by it in one probe.
            models.UniqueConstraint(
                fields=["client_message_id", "conversation"],
                opclasses=["varchar_pattern_ops", "uuid_ops"],
                condition=Q(client_message_id__isnull=False),
                name="conversations_message_client_id_once",
            ),
        ]
        indexes = [
            # Children of a message: forks, and the key that cascades a branch.
            models.Index(fields=["conversation", "parent_seq"], name="message_parent"),
            # Recording finds the place of a request by these.
            models.Index(
                fields=["path_digest"], name="message_path_digest", condition=Q(path_digest__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}#{self.seq}"


class MessagePart(models.Model):
    """One block of a message, with its bytes.

    A client call that counts (no orphan) has its row in ToolCall; results point
    at that through `answers_seq`. Only `bytes_state` and the bytes may change.
    """

    pk = models.CompositePrimaryKey("conversation_id", "seq", "ordinal")
    conversation = models.ForeignKey(
        Conversation, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    seq = models.IntegerField()
    ordinal = models.SmallIntegerField()
    type = models.CharField(max_length=20, choices=PartType)
    provider_type = models.CharField(max_length=64, blank=True, default="", db_default="")
    text = models.TextField(null=True)
    payload = models.BinaryField(null=True)
    shell = models.TextField(
        null=True, help_text="The block's JSON around its text, where not the usual one."
    )
    is_text_copy = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The payload is the record; the text is a marked copy of it.",
    )
    bytes_state = models.CharField(
        max_length=10, choices=PartBytes, default=PartBytes.PRESENT, db_default=PartBytes.PRESENT
    )
    media_type = models.CharField(max_length=127, blank=True, default="", db_default="")
    blob = models.ForeignKey(Blob, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    tool_call_id = models.CharField(max_length=255, null=True)
    tool_name = models.CharField(max_length=255, null=True)
    is_minted_id = models.BooleanField(default=False, db_default=False)
    answers_seq = models.IntegerField(null=True)
    status = models.CharField(max_length=5, choices=PartStatus, null=True)
    orphan = models.BooleanField(
        default=False, db_default=False, help_text="Received broken, kept as it came, outside the pairing."
    )

    message = models.ForeignObject(
        Message,
        models.DO_NOTHING,
        from_fields=["conversation_id", "seq"],
        to_fields=["conversation_id", "seq"],
        related_name="parts",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(ordinal__gte=0), name="conversations_part_ordinal_from_zero"),
            models.CheckConstraint(
                condition=Q(type__in=PartType.values), name="conversations_part_type_is_known"
            ),
            models.CheckConstraint(
                condition=Q(bytes_state__in=PartBytes.values), name="conversations_part_bytes_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(type="tool_result", orphan=False, answers_seq__isnull=False)
                | (~Q(type="tool_result", orphan=False) & Q(answers_seq__isnull=True)),
                name="conversations_part_result_answers_a_call",
            ),
            models.CheckConstraint(
                condition=Q(answers_seq__isnull=True) | Q(answers_seq__lt=F("seq")),
                name="conversations_part_call_comes_before",
            ),
            models.CheckConstraint(
                condition=~Q(type__in=["tool_use", "tool_result"])
                | Q(orphan=True)
                | Q(tool_call_id__isnull=False),
                name="conversations_part_call_is_identified",
            ),
            models.CheckConstraint(
                condition=~Q(type="tool_use") | Q(tool_name__isnull=False),
                name="conversations_part_call_is_named",
            ),
            models.CheckConstraint(
                condition=Q(status__isnull=True)
                | Q(status__in=PartStatus.values, type__in=["tool_result", "server_tool_result"]),
                name="conversations_part_status_is_a_results",
            ),
            models.CheckConstraint(
                condition=Q(text__isnull=True)
                | Q(payload__isnull=True, blob__isnull=True)
                | Q(is_text_copy=True),
                name="conversations_part_text_or_payload",
            ),
            models.CheckConstraint(
                condition=Q(payload__isnull=True) | Q(blob__isnull=True),
                name="conversations_part_payload_or_blob",
            ),
            models.CheckConstraint(
                condition=Q(
                    bytes_state__in=["stripped", "archived", "erased"],
                    text__isnull=True,
                    payload__isnull=True,
                    shell__isnull=True,
                    blob__isnull=True,
                )
                | (
                    Q(bytes_state__in=["present", "redacted"])
                    & (Q(text__isnull=False) | Q(payload__isnull=False) | Q(blob__isnull=False))
                ),
                name="conversations_part_bytes_match_state",
            ),
        ]
        indexes = [
            # The search box: every place of a call id, in one probe.
            models.Index(
                fields=["tool_call_id"],
                opclasses=["varchar_pattern_ops"],
                name="part_tool_call",
                condition=Q(tool_call_id__isnull=False),
            ),
            # The key from a result to its call, and what answers a call.
            models.Index(
                fields=["conversation", "answers_seq", "tool_call_id"],
                name="part_answers",
                condition=Q(answers_seq__isnull=False),
            ),
            # The sweep of blobs that no part names.
            models.Index(fields=["blob"], name="part_blob", condition=Q(blob__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}#{self.seq}.{self.ordinal}"


class ToolCall(models.Model):
    """The life of one client call; no call part without its row, no row without its part."""

    pk = models.CompositePrimaryKey("conversation_id", "seq", "call_id")
    conversation = models.ForeignKey(
        Conversation, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    seq = models.IntegerField()
    ordinal = models.SmallIntegerField(help_text="The place of its part in the message.")
    call_id = models.CharField(max_length=255)
    name = models.CharField(max_length=255)
    status = models.CharField(
        max_length=10, choices=CallStatus, default=CallStatus.REQUESTED, db_default=CallStatus.REQUESTED
    )
    error_code = models.CharField(max_length=255, blank=True, default="", db_default="")
    duration_ms = models.IntegerField(null=True)
    arguments = models.JSONField(
        null=True, help_text="Derived, for statistics; null where jsonb cannot hold the arguments."
    )
    generation_number = models.IntegerField(null=True, help_text="Null once that detail is purged.")
    requested_at = models.DateTimeField()

    message = models.ForeignObject(
        Message,
        models.DO_NOTHING,
        from_fields=["conversation_id", "seq"],
        to_fields=["conversation_id", "seq"],
        related_name="calls",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=CallStatus.values), name="conversations_toolcall_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(duration_ms__isnull=True) | Q(duration_ms__gte=0),
                name="conversations_toolcall_duration_not_negative",
            ),
        ]
        indexes = [
            # The tools page: calls of one tool over a period.
            models.Index(fields=["name", "requested_at"], name="toolcall_name_time"),
            # The list of calls: of every tool, newest first; and the sums of a period.
            models.Index(fields=["-requested_at"], name="toolcall_time"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id}#{self.seq} {self.call_id}"
