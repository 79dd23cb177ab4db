"""What a request says of a message, and the draft that it becomes."""

import base64
import binascii
from typing import Any, Final

from rest_framework import serializers

from conversations.api.fields import CountField, JsonTextField, WordsField
from conversations.services.saying.blocks import SaidBlock
from conversations.services.saying.messages import SaidMessage
from conversations.vocabulary import Dialect, PartStatus, PartType, Role

# What can be said by type; every other block is given as its provider writes it.
TYPED: Final = (PartType.TEXT, PartType.TOOL_USE, PartType.TOOL_RESULT, PartType.IMAGE, PartType.DOCUMENT)
_NEEDED: Final = {
    PartType.TEXT: ("text",),
    PartType.TOOL_USE: ("tool_call_id", "tool_name"),
    PartType.TOOL_RESULT: ("tool_call_id", "text"),
    PartType.IMAGE: (),
    PartType.DOCUMENT: (),
}


class GivenPart(serializers.Serializer):
    """One block: of a type, or `block`, as the message's dialect writes it.

    `text` needs `text`; `tool_use` needs `tool_call_id`, `tool_name` and takes `arguments`;
    `tool_result` needs `tool_call_id` and `text` and takes `status`; `image` and `document` need
    `media_type` with `data`, or `url`.
    """

    type = serializers.ChoiceField(choices=[(kind.value, kind.label) for kind in TYPED], required=False)
    text = WordsField(required=False, help_text="What a text or a result says.")
    tool_call_id = serializers.CharField(required=False, max_length=255)
    tool_name = serializers.CharField(required=False, max_length=200)
    arguments = JsonTextField(required=False, help_text="An object, or its exact JSON as text.")
    status = serializers.ChoiceField(choices=PartStatus.choices, required=False)
    media_type = serializers.RegexField(r"^[a-z0-9.+-]+/[a-z0-9.+-]+$", required=False, max_length=127)
    data = serializers.CharField(  # type: ignore[assignment]  # DRF's own name is of the class
        required=False, help_text="Base64."
    )
    url = serializers.CharField(required=False, max_length=8_192)
    block = JsonTextField(
        required=False,
        help_text="As the dialect writes it: an object, or its exact JSON as text, kept byte for byte.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "block" in attrs:
            if len(attrs) > 1:
                raise serializers.ValidationError("a `block` stands alone")
            return attrs
        if "type" not in attrs:
            raise serializers.ValidationError("a part has a `type` or is a `block`")
        kind = PartType(attrs["type"])
        missing = {name: ["needed"] for name in _NEEDED[kind] if name not in attrs}
        if missing:
            raise serializers.ValidationError(missing)
        if kind in (PartType.IMAGE, PartType.DOCUMENT):
            self._check_file(attrs)
        return attrs

    def _check_file(self, attrs: dict[str, Any]) -> None:
        if ("url" in attrs) == ("data" in attrs):
            raise serializers.ValidationError("either `data` or `url`")
        if "data" not in attrs:
            return
        if "media_type" not in attrs:
            raise serializers.ValidationError({"media_type": ["needed"]})
        try:
            base64.b64decode(attrs["data"], validate=True)
        except (binascii.Error, ValueError):
            raise serializers.ValidationError({"data": ["this is no base64"]}) from None


class GivenWords(serializers.Serializer):
    """What every message is given by."""

    parts = GivenPart(many=True)
    dialect = serializers.ChoiceField(
        choices=Dialect.choices,
        required=False,
        help_text="In whose blocks it is stored. Without one, in a form that can be said in all.",
    )
    token_count = CountField(required=False)
    occurred_at = serializers.DateTimeField(required=False, help_text="The caller's time, where it differs.")


class GivenMessage(GivenWords):
    """A message to be written."""

    role = serializers.ChoiceField(choices=Role.choices, default=Role.USER)
    client_message_id = serializers.CharField(
        required=False,
        max_length=255,
        help_text="The caller's own id: a retry finds the stored message by it.",
    )
    is_hidden = serializers.BooleanField(default=False)


def said_of(given: dict[str, Any], *, role: Role | None = None) -> SaidMessage:
    """Return the message that validated data describe; `role` where the address decides it."""
    return SaidMessage(
        role=role or Role(given["role"]),
        blocks=[_block(part) for part in given["parts"]],
        dialect=Dialect(given["dialect"]) if "dialect" in given else None,
        client_message_id=given.get("client_message_id"),
        token_count=given.get("token_count"),
        occurred_at=given.get("occurred_at"),
        is_hidden=given.get("is_hidden", False),
    )


def _block(part: dict[str, Any]) -> SaidBlock:
    if "block" in part:
        return SaidBlock(literal=part["block"])
    return SaidBlock(
        type=PartType(part["type"]),
        text=part.get("text", ""),
        call_id=part.get("tool_call_id", ""),
        name=part.get("tool_name", ""),
        arguments=part.get("arguments", "{}"),
        is_error=part.get("status") == PartStatus.ERROR,
        media_type=part.get("media_type", ""),
        data=part.get("data", ""),
        url=part.get("url", ""),
    )
