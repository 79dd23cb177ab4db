"""An exchange as parts: a JSON part that describes it, and its two bodies as they are."""

import json
from collections.abc import Mapping
from typing import Any, Final

from django.core.files.uploadhandler import FileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser

DESCRIPTION: Final = "exchange"
BODIES: Final = ("request_body", "response_body")


class ExchangeParts(BaseParser):
    """Gives one mapping: the members of the part `exchange`, and the bodies as bytes.

    Nothing is written to a temporary file: what customers said stands in memory and then in the store.
    """

    media_type = "multipart/form-data"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        meta = (parser_context or {})["request"].META
        counted: Any = _Counted(stream)
        try:
            fields, files = MultiPartParser(meta, counted, [_InMemory()]).parse()
        except MultiPartParserError as error:
            raise ParseError(f"the parts cannot be told apart: {error}") from error
        # A sender that broke off leaves a part that looks whole.
        if counted.count != int(meta["CONTENT_LENGTH"] or 0):
            raise ParseError("the body breaks off before its end")
        for name in BODIES:
            if name in fields:
                # Django has decoded it as text by now, and bytes that are none are gone.
                raise ValidationError({name: "the part needs a filename: without one it is taken for text"})
        parts = {name: part.content for name, part in files.items() if isinstance(part, _Part)}
        described = parts[DESCRIPTION] if DESCRIPTION in parts else fields.get(DESCRIPTION, "")
        return _members(described) | {name: parts[name] for name in BODIES if name in parts}


def _members(described: Any) -> dict[str, Any]:
    try:
        members = json.loads(described)
    except (ValueError, RecursionError) as error:
        raise ValidationError({DESCRIPTION: f"the part must hold a JSON object: {error}"}) from error
    if not isinstance(members, dict):
        raise ValidationError({DESCRIPTION: "the part must hold a JSON object"})
    return {name: value for name, value in members.items() if name not in BODIES}


class _Part:
    """Never false, so that Django keeps one of no bytes too."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def close(self) -> None:
        """Django closes what it has collected when a later part is broken."""


class _InMemory(FileUploadHandler):
    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self._pieces: list[bytes] = []

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._pieces.append(raw_data)

    def file_complete(self, file_size: int) -> Any:
        return _Part(b"".join(self._pieces))


class _Counted:
    """Counts what is read of the request."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.count = 0

    def read(self, *arguments: int) -> bytes:
        data: bytes = self._stream.read(*arguments)
        self.count += len(data)
        return data
