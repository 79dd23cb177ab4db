"""Bodies of requests, read without losing a number's spelling and without failing on depth."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from conversations.imports.exact_json import load_within_the_stack


class ExactJsonParser(JSONParser):
    """What is a block of a message reaches the store as it was spelt (`1.10` stays `1.10`)."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            return load_within_the_stack(stream.read())
        except ValueError as error:
            raise ParseError(str(error)) from None
