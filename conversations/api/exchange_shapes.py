"""What an exchange looks like when it comes in, and what is answered about it."""

import base64
import binascii
from typing import Any, Final, get_args

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.vocabulary import BodyProof, Dialect, GenerationStatus, HistoryMatch
from conversations.wire.shapes import Strength

_OF_A_NEW_ACCOUNT: Final = "Kept with a new account only."


@extend_schema_field(OpenApiTypes.BYTE)
class BytesField(serializers.Field):
    """Bytes: base64 within JSON, as they are within parts."""

    default_error_messages = {
        "type": "a string of base64 is needed",
        "base64": "this is no base64: {error}",
    }

    def to_internal_value(self, data: Any) -> bytes:
        if isinstance(data, bytes):
            return data
        if not isinstance(data, str):
            self.fail("type")
        try:
            return base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            self.fail("base64", error=error)

    def to_representation(self, value: bytes) -> str:
        return base64.b64encode(value).decode()


class ExchangeAccount(serializers.Serializer):
    """The customer whose conversation it is: found, or made, in the key's realm."""

    external_id = serializers.CharField(max_length=255, help_text="Your own id for the customer.")
    label = serializers.CharField(  # type: ignore[assignment]  # Field has one of another kind
        max_length=255,
        required=False,
        allow_blank=True,
        default="",
        help_text=_OF_A_NEW_ACCOUNT,
    )
    email = serializers.CharField(
        max_length=320,
        required=False,
        allow_blank=True,
        default="",
        help_text=_OF_A_NEW_ACCOUNT,
    )


class ExchangeDescription(serializers.Serializer):
    """One HTTP attempt at a provider, apart from its bodies.

    What came from the provider or names a version has no limit here: of what is longer than its
    column, the store keeps the beginning and a digest.
    """

    exchange_id = serializers.CharField(
        help_text="Made by the caller, one for each HTTP attempt. Sent again, nothing is written.",
    )
    dialect = serializers.ChoiceField(choices=Dialect.choices)
    account = ExchangeAccount()
    conversation = serializers.CharField(
        max_length=255,
        required=False,
        allow_blank=True,
        default="",
        help_text="The store's id of the conversation, or the application's own reference. Without either the"
        " conversation is found by its history, or begun.",
    )
    external_ref = serializers.CharField(
        max_length=255,
        required=False,
        allow_blank=True,
        default="",
        help_text="The application's own reference, whatever it looks like; begun if there is none such.",
    )
    request_id = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="Names the user's action; the same for all attempts at it.",
    )
    retry_of = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="The exchange that this one tries again: it is the next attempt at the same request.",
    )
    prompt_version = serializers.CharField(required=False, allow_blank=True, default="")
    provider = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="Who answered, where it is not the format's own inventor.",
    )
    api_version = serializers.CharField(required=False, allow_blank=True, default="")
    beta_headers = serializers.CharField(required=False, allow_blank=True, default="")
    http_status = serializers.IntegerField(required=False, allow_null=True, default=None)
    provider_request_id = serializers.CharField(required=False, allow_blank=True, default="")
    started_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    first_token_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    finished_at = serializers.DateTimeField(required=False, allow_null=True, default=None)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["conversation"] and attrs["external_ref"]:
            raise serializers.ValidationError(
                {"external_ref": "give the conversation or the application's reference to it, not both"}
            )
        return attrs


class Exchange(ExchangeDescription):
    """One HTTP attempt at a provider, with its two bodies exactly as they crossed the wire."""

    request_body = BytesField(help_text="What was sent, base64.")
    response_body = BytesField(
        required=False,
        allow_null=True,
        default=None,
        help_text="What arrived, base64: JSON or the stream of events, whole or cut off. Left out where"
        " nothing arrived.",
    )


class ExchangeAsParts(serializers.Serializer):
    """The same as parts: `exchange` is JSON; the bodies are sent as they are, each with a filename."""

    exchange = ExchangeDescription()
    request_body = serializers.FileField()
    response_body = serializers.FileField(required=False)


class ExchangeWarning(serializers.Serializer):
    """A rule of the provider that the request breaks. It was recorded all the same."""

    rule = serializers.CharField()
    strength = serializers.ChoiceField(choices=get_args(Strength))
    place = serializers.CharField(help_text="The message and the block of the request.")
    explanation = serializers.CharField()


class ExchangeAnswer(serializers.Serializer):
    """Where the exchange stands."""

    exchange_id = serializers.CharField()
    was_known = serializers.BooleanField(help_text="It had been recorded before; nothing was written now.")
    conversation = serializers.UUIDField()
    generation = serializers.CharField()
    request_id = serializers.CharField()
    attempt = serializers.IntegerField(min_value=1)
    status = serializers.ChoiceField(choices=GenerationStatus.choices)
    leaf_message = serializers.CharField(
        allow_null=True, help_text="The last message of the request; null where it is no conversation."
    )
    answer_message = serializers.CharField(allow_null=True, help_text="Null where no answer is kept.")
    new_messages = serializers.ListField(
        child=serializers.CharField(), help_text="Those written now, the answer among them."
    )
    match = serializers.ChoiceField(
        choices=HistoryMatch.choices, help_text="How the request found its place in the conversation."
    )
    proof = serializers.ChoiceField(
        choices=BodyProof.choices, help_text="How the request's body is given back, byte for byte."
    )
    notes = serializers.ListField(child=serializers.CharField())
    warnings = ExchangeWarning(many=True)
