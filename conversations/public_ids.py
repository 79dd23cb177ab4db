"""Public ids: they spell the natural key, so that any of them is found by one probe and none is stored.

A message is `<conversation>.m<seq>`, a generation `<conversation>.g<number>`, where a conversation
is its UUID. A tool call is named by its message and the provider's call id.
"""

import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID

_MESSAGE: Final = re.compile(r"([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})\.m([0-9]{1,9})\Z")
_GENERATION: Final = re.compile(r"([0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})\.g([0-9]{1,9})\Z")


@dataclass(frozen=True, slots=True)
class Spelled:
    """The conversation, and the number of what is meant in it."""

    conversation_id: UUID
    number: int


def message_id(conversation_id: UUID, seq: int) -> str:
    return f"{conversation_id}.m{seq}"


def generation_id(conversation_id: UUID, number: int) -> str:
    return f"{conversation_id}.g{number}"


def read_message_id(text: str) -> Spelled:
    """Raises ValueError for what is no message's id."""
    return _read(_MESSAGE, text, "message")


def read_generation_id(text: str) -> Spelled:
    """Raises ValueError for what is no generation's id."""
    return _read(_GENERATION, text, "generation")


def _read(pattern: re.Pattern[str], text: str, kind: str) -> Spelled:
    found = pattern.match(text)
    if found is None or int(found[2]) > 2**31 - 1:
        raise ValueError(f"{text[:80]!r} is no id of a {kind}")
    return Spelled(UUID(found[1]), int(found[2]))
