"""Attempts: what each answer, kept or not, took and cost."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q

from access.models import Realm
from conversations.models.conversation import Conversation
from conversations.models.storage import Fragment, RawBody
from conversations.vocabulary import BodyProof, CostConfidence, Dialect, GenerationStatus, HistoryMatch


class Generation(models.Model):
    """One attempt to get an answer from a model; a failed one keeps its row and its cost.

    `request_id` names the user's action, `attempt` counts retries and fallbacks
    below it. `leaf_seq` is the last message of the input, `message_seq` the
    answer. The body that was sent is rebuilt from the path to the leaf (after
    `base_seq`, where a hosted conversation or a cut-off history stands in), the
    fragments and `body_patch` (see docs/replay.md); `body_sha256` is of the bytes
    sent, or of the cut body where `is_redacted`.
    """

    pk = models.CompositePrimaryKey("conversation_id", "number")
    conversation = models.ForeignKey(
        Conversation, models.DB_CASCADE, related_name="generations", db_index=False
    )
    number = models.IntegerField()
    request_id = models.CharField(max_length=255)
    attempt = models.IntegerField(default=1)
    provider = models.CharField(max_length=32)
    dialect = models.CharField(
        max_length=20, choices=Dialect, blank=True, help_text="Empty for an answer from a foreign export."
    )
    api_version = models.CharField(max_length=64, blank=True, default="", db_default="")
    beta_headers = models.CharField(max_length=1024, blank=True, default="", db_default="")
    requested_model = models.CharField(max_length=255)
    served_model = models.CharField(max_length=255, blank=True, default="", db_default="")
    service_tier = models.CharField(max_length=32, blank=True, default="", db_default="")
    prompt_version = models.CharField(max_length=64, blank=True, default="", db_default="")
    summary_id = models.UUIDField(null=True, help_text="The summary that stood in front of the path, if any.")
    match = models.CharField(max_length=10, choices=HistoryMatch, blank=True, default="", db_default="")
    leaf_seq = models.IntegerField(null=True)
    base_seq = models.IntegerField(
        null=True,
        help_text="The body leaves out the path up to here: the provider or the client held it back.",
    )
    message_seq = models.IntegerField(null=True)

    status = models.CharField(max_length=12, choices=GenerationStatus)
    stop_reason = models.CharField(max_length=64, blank=True, default="", db_default="")
    error_code = models.CharField(max_length=128, blank=True, default="", db_default="")
    error_message = models.TextField(blank=True, default="", db_default="")
    http_status = models.SmallIntegerField(null=True)
    notes = models.JSONField(default=list, help_text="What was odd about the exchange, in our words.")

    uncached_input_tokens = models.IntegerField(null=True)
    cache_read_tokens = models.IntegerField(null=True)
    cache_write_5m_tokens = models.IntegerField(null=True)
    cache_write_1h_tokens = models.IntegerField(null=True)
    output_tokens = models.IntegerField(null=True, help_text="Includes the reasoning tokens.")
    reasoning_tokens = models.IntegerField(null=True)
    usage = models.JSONField(
        null=True, encoder=DjangoJSONEncoder, help_text="The provider's own object, as sent."
    )
    cost_usd = models.DecimalField(max_digits=18, decimal_places=9, null=True)
    price_rule = models.CharField(max_length=128, blank=True, default="", db_default="")
    cost_confidence = models.CharField(
        max_length=10,
        choices=CostConfidence,
        default=CostConfidence.UNKNOWN,
        db_default=CostConfidence.UNKNOWN,
    )

    provider_response_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    provider_request_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    previous_response_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    hosted_conversation_id = models.CharField(max_length=255, blank=True, default="", db_default="")

    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    first_token_ms = models.IntegerField(null=True)
    total_ms = models.IntegerField(null=True)

    preamble = models.ForeignKey(Fragment, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    leading = models.ForeignKey(Fragment, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    tools = models.ForeignKey(Fragment, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    envelope = models.ForeignKey(Fragment, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    body_proof = models.CharField(
        max_length=8, choices=BodyProof, default=BodyProof.NONE, db_default=BodyProof.NONE
    )
    body_style = models.SmallIntegerField(null=True)
    body_renderer = models.SmallIntegerField(null=True)
    body_sha256 = models.BinaryField(max_length=32, null=True)
    body_size = models.IntegerField(null=True)
    body_patch = models.BinaryField(null=True)
    is_redacted = models.BooleanField(default=False, db_default=False)
    raw_request = models.ForeignKey(RawBody, models.DB_SET_NULL, null=True, related_name="+", db_index=False)
    raw_response = models.ForeignKey(RawBody, models.DB_SET_NULL, null=True, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(number__gte=1, attempt__gte=1), name="conversations_generation_counts_from_one"
            ),
            models.CheckConstraint(
                condition=Q(status__in=GenerationStatus.values),
                name="conversations_generation_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(dialect__in=["", *Dialect.values]),
                name="conversations_generation_dialect_is_known",
            ),
            models.CheckConstraint(
                condition=Q(body_proof__in=BodyProof.values), name="conversations_generation_proof_is_known"
            ),
            models.CheckConstraint(
                condition=Q(match__in=["", *HistoryMatch.values]),
                name="conversations_generation_match_is_known",
            ),
            models.CheckConstraint(
                condition=Q(cost_confidence__in=CostConfidence.values),
                name="conversations_generation_confidence_is_known",
            ),
            models.CheckConstraint(
                condition=Q(cost_usd__isnull=True, cost_confidence="unknown")
                | Q(cost_usd__isnull=False, cost_usd__gte=0, cost_confidence__in=["exact", "estimated"]),
                name="conversations_generation_cost_has_confidence",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "streaming"], finished_at__isnull=True)
                | (~Q(status__in=["queued", "streaming"]) & Q(finished_at__isnull=False)),
                name="conversations_generation_end_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(body_proof="patched") | Q(body_patch__isnull=False),
                name="conversations_generation_patched_has_patch",
            ),
            models.CheckConstraint(
                condition=Q(reasoning_tokens__isnull=True)
                | Q(output_tokens__isnull=True)
                | Q(reasoning_tokens__lte=F("output_tokens")),
                name="conversations_generation_reasoning_is_output",
            ),
            # The id leads, so that the search box finds an attempt by it in one probe.
            models.UniqueConstraint(
                fields=["request_id", "conversation", "attempt"],
                opclasses=["varchar_pattern_ops", "uuid_ops", "int4_ops"],
                name="conversations_generation_attempt_once",
            ),
        ]
        indexes = [
            # The attempts beside an answer, and the key that forgets a purged answer.
            models.Index(fields=["conversation", "message_seq"], name="generation_message"),
            # What was sent with this leaf: regenerate and attempts.
            models.Index(fields=["conversation", "leaf_seq"], name="generation_leaf"),
            # The search box (msg_, resp_, chatcmpl-) and previous_response_id.
            models.Index(
                fields=["provider_response_id"],
                opclasses=["varchar_pattern_ops"],
                name="generation_response_id",
                condition=~Q(provider_response_id=""),
            ),
            # The search box (req_).
            models.Index(
                fields=["provider_request_id"],
                opclasses=["varchar_pattern_ops"],
                name="generation_provider_req",
                condition=~Q(provider_request_id=""),
            ),
            # A hosted conversation leads to its generations.
            models.Index(
                fields=["hosted_conversation_id"],
                opclasses=["varchar_pattern_ops"],
                name="generation_hosted",
                condition=~Q(hosted_conversation_id=""),
            ),
            # The keys of bodies and fragments that are swept.
            *(
                models.Index(
                    fields=[name], name=f"generation_{name}", condition=Q((f"{name}__isnull", False))
                )
                for name in ("preamble", "tools", "envelope")
            ),
            models.Index(fields=["leading"], name="generation_leading", condition=Q(leading__isnull=False)),
            models.Index(
                fields=["raw_request"], name="generation_raw_req", condition=Q(raw_request__isnull=False)
            ),
            models.Index(
                fields=["raw_response"], name="generation_raw_resp", condition=Q(raw_response__isnull=False)
            ),
            # Lists narrowed to what few attempts have; equal values share an entry, so these are small.
            *(
                models.Index(fields=[name], name=f"generation_{name}")
                for name in ("status", "requested_model", "served_model")
            ),
            # The cost page and roll-ups: by day.
            models.Index(fields=["created_at"], name="generation_created"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} attempt {self.number}"


class Exchange(models.Model):
    """The once-only key of a recorded exchange: its caller's id, unique within the realm.

    Apart from Generation, whose keys all begin with the conversation.
    """

    pk = models.CompositePrimaryKey("realm_id", "exchange_id")
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    exchange_id = models.CharField(max_length=255)
    conversation = models.ForeignKey(Conversation, models.DB_CASCADE, related_name="+", db_index=False)
    number = models.IntegerField()

    class Meta:
        indexes = [
            # The keys by which it goes: with its conversation, and with its attempt.
            models.Index(fields=["conversation", "number"], name="exchange_attempt"),
        ]

    def __str__(self) -> str:
        return self.exchange_id
