"""The shapes of effects over HTTP. Amounts are whole minor units, in the currency beside them."""

from typing import Any, Final

from rest_framework import serializers

from access.actors import ActorKind
from conversations import public_ids
from ledger.evidence import EFFECT_METADATA, KEY_METADATA
from ledger.models import GuardQuestion, ToolEffect
from ledger.services.beginning import Begun
from ledger.vocabulary import (
    EffectState,
    EvidenceSource,
    GuardAnswer,
    GuardReason,
    KeyScope,
    Operation,
    Standing,
)

_LARGEST_AMOUNT: Final = 2**63 - 1
_CURRENCY: Final = r"^[A-Za-z]{3}$"


class EffectAnswer(serializers.Serializer):
    """One operation at a processor, as the ledger has it."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    message_id = serializers.SerializerMethodField(
        help_text="The message that holds the call; null once its conversation is gone."
    )
    call_id = serializers.CharField()
    account_id = serializers.UUIDField(allow_null=True, help_text="Null once erased.")
    tool = serializers.CharField(source="tool_name")
    operation = serializers.ChoiceField(choices=Operation.choices)
    processor = serializers.CharField()
    state = serializers.ChoiceField(
        choices=EffectState.choices,
        help_text="`pending` with `sent_at` is “sent, answer unknown”: do not send under another key.",
    )
    idempotency_key = serializers.CharField()
    key_scope = serializers.ChoiceField(choices=KeyScope.choices)
    find_by = serializers.DictField(child=serializers.CharField())
    external_ref = serializers.CharField(help_text="The processor’s id of what was made; empty before.")
    amount_minor = serializers.IntegerField(allow_null=True)
    amount_settled_minor = serializers.IntegerField(allow_null=True)
    amount_compensated_minor = serializers.IntegerField()
    currency = serializers.CharField(help_text="Lower case; empty where no money moves.")
    compensated_by = serializers.CharField()
    requested_at = serializers.DateTimeField()
    sent_at = serializers.DateTimeField(allow_null=True, help_text="Null proves that nothing left.")
    settled_at = serializers.DateTimeField(allow_null=True)

    def get_message_id(self, effect: ToolEffect) -> str | None:
        return (
            None
            if effect.call_seq is None
            else public_ids.message_id(effect.conversation_id, effect.call_seq)
        )


class StandingEffectAnswer(EffectAnswer):
    """An effect, and where its call stands in the conversation now."""

    standing = serializers.ChoiceField(
        choices=Standing.choices,
        help_text="`abandoned`: no call that uses the effect is on the branch that the customer sees.",
    )


class MoveAnswer(serializers.Serializer):
    """One move of an effect’s state, with its evidence."""

    number = serializers.IntegerField()
    from_state = serializers.CharField(help_text="Empty for the first.")
    to_state = serializers.ChoiceField(choices=EffectState.choices)
    moved_at = serializers.DateTimeField()
    by_kind = serializers.ChoiceField(choices=ActorKind.choices, source="moved_by_kind")
    by_id = serializers.CharField(source="moved_by_id", help_text="In the actor’s own list: a key, a user.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF's own name is of the class
        choices=EvidenceSource.choices, help_text="Where the evidence was seen."
    )
    evidence_ref = serializers.CharField(help_text="The processor’s object or event.")
    evidence_status = serializers.CharField()
    evidence_amount_minor = serializers.IntegerField(allow_null=True)
    evidence_at = serializers.DateTimeField(allow_null=True, help_text="The processor’s own time.")


class QuestionAnswer(serializers.Serializer):
    """What the guard asked a person about one call with exactly its arguments."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    message_id = serializers.SerializerMethodField()
    call_id = serializers.CharField()
    tool = serializers.CharField(source="tool_name")
    reason = serializers.ChoiceField(choices=GuardReason.choices)
    earlier_effect_id = serializers.UUIDField(allow_null=True)
    answer = serializers.SerializerMethodField(
        help_text="`used`: the call was allowed and has begun; a permission serves once."
    )
    asked_at = serializers.DateTimeField()
    answered_at = serializers.DateTimeField(allow_null=True)
    used_at = serializers.DateTimeField(allow_null=True)

    def get_message_id(self, question: GuardQuestion) -> str:
        return public_ids.message_id(question.conversation_id, question.seq)

    def get_answer(self, question: GuardQuestion) -> str:
        if question.used_at is not None:
            return "used"
        return {None: "waiting", True: "allowed", False: "refused"}[question.is_allowed]


class BegunAnswer(serializers.Serializer):
    """The guard’s decision. Only `proceed` and `resume` may be sent, and under `idempotency_key` alone."""

    decision = serializers.ChoiceField(choices=GuardAnswer.choices, source="answer")
    reason = serializers.ChoiceField(choices=GuardReason.choices)
    idempotency_key = serializers.SerializerMethodField(
        help_text="Null where nothing may be sent, or where the tool touches nothing (`not_effectful`)."
    )
    metadata = serializers.SerializerMethodField(
        help_text="Must go along to the processor, so that the operation is found if its answer is lost."
    )
    effect = EffectAnswer(
        allow_null=True, help_text="The call’s own; of a `replay`, the one whose outcome counts."
    )
    earlier = EffectAnswer(allow_null=True, help_text="What an `ask` is about.")
    question = QuestionAnswer(allow_null=True, help_text="What staff is asked; poll it, then begin again.")

    def get_idempotency_key(self, begun: Begun) -> str | None:
        return begun.key or None

    def get_metadata(self, begun: Begun) -> dict[str, str] | None:
        if not begun.key or begun.effect is None:
            return None
        return {EFFECT_METADATA: str(begun.effect.pk), KEY_METADATA: begun.key}


class FindByRequest(serializers.Serializer):
    """Ids by which the processor can be asked, should the answer be lost."""

    payment_intent = serializers.CharField(max_length=255, required=False)
    charge = serializers.CharField(max_length=255, required=False)
    customer = serializers.CharField(max_length=255, required=False)


class BeginRequest(serializers.Serializer):
    """The recorded call that is about to act. Tool and arguments are read from the store, not from here."""

    message_id = serializers.CharField(
        max_length=64, required=False, help_text="The message that holds the call: `<conversation>.m<seq>`."
    )
    conversation_id = serializers.UUIDField(
        required=False, help_text="In place of `message_id`, where one call of the conversation has this id."
    )
    call_id = serializers.CharField(max_length=255, trim_whitespace=False)
    operation = serializers.ChoiceField(choices=Operation.choices, required=False)
    amount_minor = serializers.IntegerField(min_value=0, max_value=_LARGEST_AMOUNT, required=False)
    currency = serializers.RegexField(_CURRENCY, required=False)
    find_by = FindByRequest(required=False)

    def validate_message_id(self, text: str) -> Any:
        try:
            return public_ids.read_message_id(text)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from error

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("message_id" in attrs) == ("conversation_id" in attrs):
            raise serializers.ValidationError("name either the message or the conversation")
        if "amount_minor" in attrs and "currency" not in attrs:
            raise serializers.ValidationError({"currency": "an amount needs its currency"})
        return attrs


class SentRequest(serializers.Serializer):
    """Nothing is needed; ids that are known only now may be added."""

    find_by = FindByRequest(required=False)


class ResponseRequest(serializers.Serializer):
    """The processor’s answer, byte for byte."""

    http_status = serializers.IntegerField(min_value=100, max_value=599)
    body = serializers.CharField(allow_blank=True, help_text="Base64 of the answer’s body as it came.")
    request_id = serializers.CharField(
        max_length=255,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of its headers, if it has one.",
    )


class ReportRequest(serializers.Serializer):
    """What a processor without an adapter answered, in your words."""

    outcome = serializers.ChoiceField(choices=[EffectState.APPLIED, EffectState.FAILED])
    reference = serializers.CharField(max_length=255, help_text="The processor’s own id for what it did.")
    status = serializers.CharField(max_length=64, required=False, default="", allow_blank=True)
    amount_minor = serializers.IntegerField(min_value=0, max_value=_LARGEST_AMOUNT, required=False)
    currency = serializers.RegexField(_CURRENCY, required=False)
    occurred_at = serializers.DateTimeField(required=False)


class SettleRequest(serializers.Serializer):
    """Either the answer itself or a report of it."""

    response = ResponseRequest(required=False)
    report = ReportRequest(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("response" in attrs) == ("report" in attrs):
            raise serializers.ValidationError("give either the response or a report of it")
        return attrs


class SettledAnswer(serializers.Serializer):
    """The effect after the evidence."""

    effect = EffectAnswer()
    has_moved = serializers.BooleanField(help_text="False where it was known, or says nothing of an outcome.")
    contradictions = serializers.ListField(
        child=serializers.CharField(), help_text="What the evidence says and no move of a state can express."
    )
