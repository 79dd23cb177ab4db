"""Fields that requests of several addresses share."""

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.imports.exact_json import dump

LARGEST: Final = 2**31 - 1


class WordsField(serializers.CharField):
    """What somebody said: kept as it is, with white space, NUL and halves of surrogate pairs."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("allow_blank", True)
        super().__init__(trim_whitespace=False, **options)
        self.validators = []


@extend_schema_field({"oneOf": [{"type": "object", "additionalProperties": True}, {"type": "string"}]})
class JsonTextField(serializers.Field):
    """A JSON object, or its exact text; either way the text."""

    default_error_messages = {"invalid": "a JSON object, or the text of one"}

    def to_internal_value(self, data: object) -> str:
        if isinstance(data, dict):
            return dump(data).decode()
        if not isinstance(data, str) or not data.strip():
            self.fail("invalid")
        return data

    def to_representation(self, value: str) -> str:
        return value


class MessageIdField(serializers.CharField):
    """The public id of a message; whether it is one of the conversation is asked later."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("help_text", "A message's id: `<conversation>.m<number>`.")
        super().__init__(max_length=64, **options)


class CountField(serializers.IntegerField):
    """A whole number that a column holds."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("min_value", 0)
        options.setdefault("max_value", LARGEST)
        super().__init__(**options)
