"""The shapes of holds and erasure requests. Nobody is named in them: ids, times, counts, closed choices."""

from typing import Any

from rest_framework import serializers

from access.actors import ActorKind
from retention.models import ErasureReceipt, ErasureRequest, LegalHold
from retention.vocabulary import HoldTarget, RequestOrigin, RequestState, StepState

_LONGEST_NAME = 255


class HoldAnswer(serializers.Serializer):
    """One hold. An effect’s hold holds its conversation too."""

    id = serializers.UUIDField()
    target = serializers.ChoiceField(choices=HoldTarget.choices, source="target_kind")
    account_id = serializers.UUIDField(allow_null=True)
    conversation_id = serializers.UUIDField(allow_null=True)
    effect_id = serializers.UUIDField(allow_null=True)
    matter = serializers.CharField()
    state = serializers.SerializerMethodField(help_text="`in_force`, `release_requested` or `released`.")
    placed_at = serializers.DateTimeField()
    placed_by_kind = serializers.SerializerMethodField(help_text="`staff` or `application`.")
    release_requested_at = serializers.DateTimeField(allow_null=True)
    released_at = serializers.DateTimeField(allow_null=True)

    def get_state(self, hold: LegalHold) -> str:
        if hold.released_at is not None:
            return "released"
        return "in_force" if hold.release_requested_at is None else "release_requested"

    def get_placed_by_kind(self, hold: LegalHold) -> str:
        return ActorKind.STAFF if hold.placed_by_key_id is None else ActorKind.APPLICATION


class HoldRequest(serializers.Serializer):
    """Exactly one of the three ids, and the matter that it is for."""

    account_id = serializers.UUIDField(required=False)
    conversation_id = serializers.UUIDField(required=False)
    effect_id = serializers.UUIDField(required=False)
    matter = serializers.CharField(max_length=64, help_text="The case’s number. No name of anybody.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs.keys() & {"account_id", "conversation_id", "effect_id"}) != 1:
            raise serializers.ValidationError("name one account, one conversation or one effect")
        return attrs


class ErasureStepAnswer(serializers.Serializer):
    """What one step of the erasure did, by store."""

    name = serializers.CharField()
    state = serializers.ChoiceField(choices=StepState.choices)
    erased = serializers.DictField(child=serializers.IntegerField())
    pseudonymised = serializers.DictField(child=serializers.IntegerField())
    kept = serializers.DictField(child=serializers.IntegerField())
    cause = serializers.CharField(help_text="Why something stays; else empty.")
    finished_at = serializers.DateTimeField(allow_null=True)


class PreviewRowAnswer(serializers.Serializer):
    """What will become of one store."""

    store = serializers.CharField()
    erased = serializers.IntegerField()
    pseudonymised = serializers.IntegerField()
    kept = serializers.IntegerField()
    ground = serializers.CharField(help_text="Why something stays; else empty.")


class ErasureSummaryAnswer(serializers.Serializer):
    """One erasure request, without what was counted."""

    number = serializers.CharField()
    origin = serializers.ChoiceField(choices=RequestOrigin.choices)
    state = serializers.ChoiceField(choices=RequestState.choices)
    received_at = serializers.DateTimeField()
    due_at = serializers.DateTimeField(help_text="30 days after it was received; extended once at most.")
    extended_at = serializers.DateTimeField(allow_null=True)
    identity_checked_at = serializers.DateTimeField(allow_null=True)
    previewed_at = serializers.DateTimeField(allow_null=True)
    approved_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class ErasureAnswer(ErasureSummaryAnswer):
    """One erasure request with its accounts, its preview and its steps."""

    account_ids = serializers.SerializerMethodField(help_text="They outlive the accounts.")
    preview = PreviewRowAnswer(
        many=True,
        allow_null=True,
        help_text="What is approved is this count. Null until identity is checked.",
    )
    steps = ErasureStepAnswer(many=True, help_text="None before it was approved.")
    job_id = serializers.SerializerMethodField(help_text="The run that works on it, or worked last.")
    has_receipt = serializers.SerializerMethodField()

    def get_account_ids(self, request: ErasureRequest) -> list[str]:
        return [str(row.account_id) for row in request.accounts.all()]

    def get_job_id(self, request: ErasureRequest) -> str | None:
        run = self.context["run"]
        return None if run is None else str(run)

    def get_has_receipt(self, request: ErasureRequest) -> bool:
        return ErasureReceipt.objects.filter(request=request).exists()


class IntakeRequest(serializers.Serializer):
    """Whom it is about: accounts of one person."""

    accounts = serializers.ListField(
        child=serializers.CharField(max_length=_LONGEST_NAME),
        min_length=1,
        max_length=50,
        help_text="External ids or account ids; each must be there.",
    )
    aliases = serializers.ListField(
        child=serializers.CharField(max_length=_LONGEST_NAME),
        required=False,
        max_length=50,
        help_text="Other names by which the person is found in texts; forgotten with the receipt.",
    )
    received_at = serializers.DateTimeField(
        required=False, help_text="When the person asked; the clock runs from then. Now, if it is not said."
    )


class ReceiptAnswer(serializers.Serializer):
    """The proof: counts, times and keyed digests."""

    receipt = serializers.CharField(source="body", help_text="JSON text; exactly its bytes are signed.")
    signature = serializers.SerializerMethodField(help_text="`hmac-sha256:` and hexadecimal.")
    key = serializers.CharField(source="key_mark", help_text="Which key signed, without saying the key.")
    made_at = serializers.DateTimeField()

    def get_signature(self, receipt: ErasureReceipt) -> str:
        return f"hmac-sha256:{receipt.signature}"
