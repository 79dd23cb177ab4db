"""Recorded calls in a file: one JSON object a line, bodies as strings."""

import json
from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime

from conversations.vocabulary import Dialect
from conversations.wire.dialects import dialect_of_path

_TEXTS = (
    "exchange_id",
    "request_id",
    "api_version",
    "beta_headers",
    "prompt_version",
    "provider_request_id",
    "provider",
)
_TIMES = ("started_at", "first_token_at", "finished_at")


class LineError(ValueError):
    """A line that describes no call, with what is missing."""


def read_lines(file: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any] | LineError]]:
    """Give each line's number with the arguments for `record_exchange`, or what is wrong with it."""
    for place, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            yield place, read_line(line)
        except LineError as error:
            yield place, error


def read_line(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError(f"no JSON: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("request_body"), str):
        raise LineError("request_body is missing")
    arguments: dict[str, Any] = {
        "request_body": _bytes(value["request_body"]),
        "response_body": _bytes(value["response_body"])
        if isinstance(value.get("response_body"), str)
        else None,
        "dialect": _dialect(value),
        "http_status": _status(value.get("response_status")),
    }
    arguments |= {name: value[name] for name in _TEXTS if isinstance(value.get(name), str)}
    arguments |= {name: _time(value[name], name) for name in _TIMES if value.get(name)}
    if value.get("conversation_id"):
        arguments["conversation_id"] = _uuid(value["conversation_id"])
    return arguments


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise LineError(
            f"a lone surrogate at character {error.start} of a body: no bytes are meant by it"
        ) from error


def _dialect(value: dict[str, Any]) -> Dialect:
    if value.get("dialect"):
        try:
            return Dialect(value["dialect"])
        except ValueError as error:
            raise LineError(f"unknown dialect {value['dialect']}") from error
    found = dialect_of_path(str(value.get("path", "")))
    if found is None:
        raise LineError("neither dialect nor path says which format this is")
    return found


def _status(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise LineError(f"response_status is no number: {value}")


def _time(value: object, name: str) -> Any:
    parsed = parse_datetime(value) if isinstance(value, str) else None
    if parsed is None or parsed.tzinfo is None:
        raise LineError(f"{name} is no moment with a time zone: {value}")
    return parsed


def _uuid(value: object) -> UUID:
    try:
        return UUID(str(value))
    except ValueError as error:
        raise LineError(f"conversation_id is no uuid: {value}") from error
