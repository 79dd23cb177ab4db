"""Drafts laid out as the rows that `placing` writes: one JSON text for each table.

Three parameters, whatever is written: a statement with an array for each column
would have so many that the driver took it apart anew for each message.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any

import orjson
from psycopg.types.json import Jsonb

from conversations.arguments import derived_arguments
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Generation
from conversations.services.blobs import keep_large_payload
from conversations.vocabulary import CallStatus

# What the statement reads out of the texts, and the columns that it fills with it.
MESSAGE_RECORD = (
    "place int, answers int, digest bytea, role text, provider_role text, shell text,"
    " client_message_id text, token_count int, occurred_at timestamptz, is_hidden bool"
)
MESSAGE_COLUMNS = "role, provider_role, shell, client_message_id, token_count, occurred_at, is_hidden"
PART_RECORD = (
    "place int, ordinal int, type text, provider_type text, text text, payload bytea, shell text,"
    " is_text_copy bool, media_type text, blob_id bigint, tool_call_id text, tool_name text,"
    " is_minted_id bool, status text, orphan bool"
)
PART_COLUMNS = (
    "ordinal, type, provider_type, text, payload, shell, is_text_copy, media_type, blob_id,"
    " tool_call_id, tool_name, is_minted_id, status, orphan"
)
CALL_RECORD = "place int, ordinal int, call_id text, name text, arguments text, status text"
# Labels of what came from outside; the block itself keeps them whole.
LONGEST_TYPE, LONGEST_MEDIA_TYPE = 64, 127
NO_ANSWER = None
ANSWERS_PARENT = -1


def message_rows(messages: Sequence[MessageDraft], *, digests: Sequence[bytes | None] | None) -> str:
    return _json(
        {
            "place": place,
            "answers": answers,
            "digest": _hex(None if digests is None else digests[place]),
            "role": message.role.value,
            "provider_role": message.provider_role,
            "shell": message.shell,
            "client_message_id": message.client_message_id,
            "token_count": message.token_count,
            "occurred_at": message.occurred_at,
            "is_hidden": message.is_hidden,
        }
        for place, (message, answers) in enumerate(zip(messages, answered_places(messages), strict=True))
    )


def answered_places(messages: Sequence[MessageDraft]) -> list[int | None]:
    """For each message of a run, the place of the message whose calls it answers.

    ANSWERS_PARENT is the group of the message that the run hangs on. A message
    without results answers none.
    """
    groups: list[int] = []
    answered: list[int | None] = []
    for place, message in enumerate(messages):
        has_results = next(message.results(), None) is not None
        group = (groups[-1] if groups else ANSWERS_PARENT) if has_results else place
        groups.append(group)
        answered.append(group if has_results else NO_ANSWER)
    return answered


def part_rows(messages: Sequence[MessageDraft]) -> str:
    """Lay out all parts; large payloads are put into blob storage on the way."""
    return _json(
        _part_row(place, ordinal, part)
        for place, message in enumerate(messages)
        for ordinal, part in enumerate(message.parts)
    )


def _part_row(place: int, ordinal: int, part: PartDraft) -> dict[str, Any]:
    blob_id = keep_large_payload(part)
    return {
        "place": place,
        "ordinal": ordinal,
        "type": part.type.value,
        "provider_type": part.provider_type[:LONGEST_TYPE],
        "text": part.text,
        "payload": _hex(part.payload if blob_id is None else None),
        "shell": part.shell,
        "is_text_copy": part.is_text_copy,
        "media_type": part.media_type[:LONGEST_MEDIA_TYPE],
        "blob_id": blob_id,
        "tool_call_id": part.tool_call_id,
        "tool_name": part.tool_name,
        "is_minted_id": part.is_minted_id,
        "status": part.status.value if part.status else None,
        "orphan": part.orphan,
    }


def call_rows(messages: Sequence[MessageDraft], *, unanswered: Collection[tuple[int, str]]) -> str:
    return _json(
        {
            "place": place,
            "ordinal": ordinal,
            "call_id": part.tool_call_id,
            "name": part.tool_name,
            "arguments": derived_arguments(part),
            "status": _status((place, part.tool_call_id or ""), unanswered),
        }
        for place, message in enumerate(messages)
        for ordinal, part in enumerate(message.parts)
        if part.is_call
    )


def _status(call: tuple[int, str], unanswered: Collection[tuple[int, str]]) -> str:
    return (CallStatus.UNANSWERED if call in unanswered else CallStatus.REQUESTED).value


def generation_row(columns: Mapping[str, Any]) -> str:
    """Lay out a whole attempt with the defaults of what is not said; each is read by its column's type."""
    return orjson.dumps({**_generation_defaults(), **columns}, default=_as_text).decode()


@cache
def _generation_defaults() -> dict[str, Any]:
    fields = Generation._meta.concrete_fields
    return {field.column: field.get_default() for field in fields if field.column and field.has_default()}


def _as_text(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return _hex(bytes(value))
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Jsonb):
        return value.obj
    raise TypeError(f"no column holds a {type(value).__name__}")


def byte_array(values: Iterable[bytes]) -> str:
    """A bytea[] as PostgreSQL reads it from a text; the driver would ask of each item what it is."""
    return "{" + ",".join(f'"\\\\x{value.hex()}"' for value in values) + "}"


def _json(rows: Iterable[dict[str, Any]]) -> str:
    return orjson.dumps(list(rows)).decode()


def _hex(value: bytes | None) -> str | None:
    """Bytes as PostgreSQL reads them from a text."""
    return None if value is None else f"\\x{value.hex()}"
