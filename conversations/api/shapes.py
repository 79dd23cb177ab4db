"""The shapes of answers, as the API's description tells them; `answers` fills them."""

from rest_framework import serializers

from access.actors import ActorKind
from conversations.vocabulary import (
    BodyProof,
    BranchReason,
    CallStatus,
    CostConfidence,
    Dialect,
    GenerationStatus,
    HeadMoveReason,
    HistoryMatch,
    PartBytes,
    PartStatus,
    PartType,
    ReplayObstacle,
    Role,
    Source,
)


class AccountAnswer(serializers.Serializer):
    """Whose a conversation is; `external_id` is the application's own id for the customer."""

    id = serializers.UUIDField()
    external_id = serializers.CharField()


class ConversationAnswer(serializers.Serializer):
    """A conversation without its messages."""

    id = serializers.UUIDField()
    account = AccountAnswer()
    title = serializers.CharField(
        allow_blank=True, allow_null=True, help_text="Null for a key that may write and not read."
    )
    source = serializers.ChoiceField(choices=Source.choices)  # type: ignore[assignment]  # Field has one
    external_ref = serializers.CharField(allow_blank=True)
    parent_call_id = serializers.CharField(
        allow_blank=True, help_text="The call that it was opened for (a sub-agent's)."
    )
    message_count = serializers.IntegerField(help_text="How many were ever written, purged ones too.")
    head_id = serializers.CharField(allow_null=True, help_text="The message that the customer sees last.")
    head_move = serializers.IntegerField(help_text="The number of the head's last move; 0 before the first.")
    has_fork = serializers.BooleanField()
    replay_obstacle = serializers.ChoiceField(choices=ReplayObstacle.choices, allow_null=True)
    started_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    last_activity_at = serializers.DateTimeField()


class CallAnswer(serializers.Serializer):
    """What became of a call."""

    status = serializers.ChoiceField(choices=CallStatus.choices)
    error_code = serializers.CharField(allow_blank=True)
    duration_ms = serializers.IntegerField(allow_null=True)


class PartAnswer(serializers.Serializer):
    """One block. A plain text is its `text`; of all others `block` is the JSON, as text."""

    ordinal = serializers.IntegerField()
    type = serializers.ChoiceField(choices=PartType.choices)
    provider_type = serializers.CharField(
        allow_blank=True, help_text="The provider's own name, where it differs."
    )
    text = serializers.CharField(allow_null=True, help_text="The words in it, if it has any.")
    block = serializers.CharField(allow_null=True)
    tool_call_id = serializers.CharField(allow_null=True)
    tool_name = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(choices=PartStatus.choices, allow_null=True)
    call = CallAnswer(allow_null=True)
    media_type = serializers.CharField(allow_blank=True)
    bytes_state = serializers.ChoiceField(choices=PartBytes.choices, help_text="What became of its bytes.")
    is_large = serializers.BooleanField(
        help_text="Its block is above 32 KB and left out here; the message's own address has it."
    )
    size = serializers.IntegerField(allow_null=True, help_text="Bytes of a large block.")
    is_orphan = serializers.BooleanField(help_text="Received broken, and kept as it came.")
    is_minted_id = serializers.BooleanField(help_text="The call came without an id; this one is ours.")


class VersionAnswer(serializers.Serializer):
    """One version of a message: itself, or a sibling."""

    id = serializers.CharField()
    seq = serializers.IntegerField()
    role = serializers.ChoiceField(choices=Role.choices)
    branch_reason = serializers.ChoiceField(choices=BranchReason.choices)
    created_at = serializers.DateTimeField()
    leaf_id = serializers.CharField(
        help_text="The newest leaf below it: what to move the head to, to show it."
    )


class MessageHeadAnswer(serializers.Serializer):
    """A message without its parts."""

    id = serializers.CharField()
    seq = serializers.IntegerField()
    parent_id = serializers.CharField(allow_null=True)
    answers_id = serializers.CharField(
        allow_null=True, help_text="The message whose calls its results answer."
    )
    role = serializers.ChoiceField(choices=Role.choices)
    dialect = serializers.ChoiceField(choices=Dialect.choices, allow_null=True)
    branch_reason = serializers.ChoiceField(choices=BranchReason.choices)
    is_hidden = serializers.BooleanField()
    client_message_id = serializers.CharField(allow_null=True)
    token_count = serializers.IntegerField(allow_null=True)
    occurred_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class MessageAnswer(MessageHeadAnswer):
    """A message."""

    generation_id = serializers.CharField(
        allow_null=True, help_text="The attempt that it is the answer of, if its detail is still kept."
    )
    archive_trouble = serializers.CharField(
        allow_null=True, help_text="Why its archived bytes could not be read now."
    )
    parts = PartAnswer(many=True)


class PathMessageAnswer(MessageAnswer):
    """A message on a path, with the other versions beside it."""

    versions = VersionAnswer(
        many=True, help_text="All versions of this message, oldest first; empty where it is the only one."
    )


class AsOfAnswer(serializers.Serializer):
    """The move of the head that was the last one then; null before the first."""

    moment = serializers.DateTimeField()
    head_move = serializers.IntegerField(allow_null=True)
    head_id = serializers.CharField(allow_null=True)
    is_head_gone = serializers.BooleanField(help_text="That message has been purged since.")


class ConversationPathAnswer(ConversationAnswer):
    """A conversation with a path: the live one, or the one that was live at `as_of`."""

    as_of = AsOfAnswer(allow_null=True)
    path_length = serializers.IntegerField()
    path = PathMessageAnswer(many=True)


class NodeAnswer(serializers.Serializer):
    """A message's place in the tree, and how much it holds."""

    id = serializers.CharField()
    seq = serializers.IntegerField()
    parent_id = serializers.CharField(allow_null=True)
    answers_id = serializers.CharField(allow_null=True)
    role = serializers.ChoiceField(choices=Role.choices)
    branch_reason = serializers.ChoiceField(choices=BranchReason.choices)
    is_hidden = serializers.BooleanField()
    is_live = serializers.BooleanField(help_text="Whether it is on the path from the head.")
    created_at = serializers.DateTimeField()
    parts = serializers.IntegerField()
    bytes = serializers.IntegerField(help_text="Of its parts, as far as they are in the database or blobs.")


class TreeAnswer(serializers.Serializer):
    """Every message of a conversation, without a word of what it says."""

    id = serializers.UUIDField()
    head_id = serializers.CharField(allow_null=True)
    head_move = serializers.IntegerField()
    nodes = NodeAnswer(many=True)


class HeadAnswer(serializers.Serializer):
    """Where the head stands; `move` is what `If-Match` compares."""

    message_id = serializers.CharField(allow_null=True)
    move = serializers.IntegerField()


class HeadMoveAnswer(serializers.Serializer):
    """One line of the log of what the customer saw."""

    number = serializers.IntegerField()
    message_id = serializers.CharField()
    moved_at = serializers.DateTimeField()
    by_kind = serializers.ChoiceField(choices=ActorKind.choices)
    by_id = serializers.CharField(allow_blank=True)
    reason = serializers.ChoiceField(choices=HeadMoveReason.choices)


class TokensAnswer(serializers.Serializer):
    """Tokens in disjoint buckets; null is unknown, which is not zero. `output` includes `reasoning`."""

    uncached_input = serializers.IntegerField(allow_null=True)
    cache_read = serializers.IntegerField(allow_null=True)
    cache_write_5m = serializers.IntegerField(allow_null=True)
    cache_write_1h = serializers.IntegerField(allow_null=True)
    output = serializers.IntegerField(allow_null=True)
    reasoning = serializers.IntegerField(allow_null=True)


class BodyAnswer(serializers.Serializer):
    """How the request body of an attempt is given back."""

    proof = serializers.ChoiceField(choices=BodyProof.choices)
    sha256 = serializers.CharField(allow_null=True)
    size = serializers.IntegerField(allow_null=True)
    is_redacted = serializers.BooleanField(help_text="Secrets were cut out before it was kept.")


class GenerationAnswer(serializers.Serializer):
    """One attempt at an answer."""

    id = serializers.CharField()
    number = serializers.IntegerField()
    conversation_id = serializers.UUIDField()
    request_id = serializers.CharField()
    attempt = serializers.IntegerField()
    provider = serializers.CharField()
    dialect = serializers.ChoiceField(choices=Dialect.choices, allow_null=True)
    requested_model = serializers.CharField(allow_blank=True)
    served_model = serializers.CharField(allow_blank=True)
    service_tier = serializers.CharField(allow_blank=True)
    prompt_version = serializers.CharField(allow_blank=True)
    api_version = serializers.CharField(allow_blank=True)
    beta_headers = serializers.CharField(allow_blank=True)
    summary_id = serializers.UUIDField(allow_null=True)
    leaf_id = serializers.CharField(allow_null=True, help_text="The last message of what was sent.")
    message_id = serializers.CharField(allow_null=True, help_text="The answer, if one is kept.")
    match = serializers.ChoiceField(
        choices=HistoryMatch.choices, allow_null=True, help_text="How a recorded request found its place."
    )
    status = serializers.ChoiceField(choices=GenerationStatus.choices)
    stop_reason = serializers.CharField(allow_blank=True)
    error_code = serializers.CharField(allow_blank=True)
    http_status = serializers.IntegerField(allow_null=True)
    notes = serializers.ListField(child=serializers.CharField())
    tokens = TokensAnswer()
    cost_usd = serializers.DecimalField(max_digits=18, decimal_places=9, allow_null=True)
    cost_confidence = serializers.ChoiceField(choices=CostConfidence.choices)
    price_rule = serializers.CharField(allow_blank=True)
    provider_response_id = serializers.CharField(allow_blank=True)
    provider_request_id = serializers.CharField(allow_blank=True)
    previous_response_id = serializers.CharField(allow_blank=True)
    hosted_conversation_id = serializers.CharField(allow_blank=True)
    first_token_ms = serializers.IntegerField(allow_null=True)
    total_ms = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    body = BodyAnswer()


class GenerationDetailAnswer(GenerationAnswer):
    """One attempt, with the provider's words where it failed."""

    error_message = serializers.CharField(
        allow_blank=True, help_text="Providers repeat in it what they were sent: reading it is logged."
    )


class WrittenAnswer(serializers.Serializer):
    """What a write left: the message, the attempt if one was opened or ended, and where the head stands."""

    message = MessageHeadAnswer(allow_null=True)
    generation = GenerationAnswer(allow_null=True)
    head = HeadAnswer()
    is_new = serializers.BooleanField(
        help_text="False for a retry: then nothing was written, and the model is not to be asked again."
    )


class SummaryAnswer(serializers.Serializer):
    """A summary of one stretch of a path."""

    id = serializers.UUIDField()
    from_id = serializers.CharField()
    to_id = serializers.CharField()
    text = serializers.CharField(allow_blank=True, help_text="Empty once what it sums up is gone.")
    token_count = serializers.IntegerField(allow_null=True)
    model = serializers.CharField(allow_blank=True)
    prompt_version = serializers.CharField()
    is_pinned = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    invalidated_at = serializers.DateTimeField(allow_null=True)
