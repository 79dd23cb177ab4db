"""What a wire format is read into: one shape for every provider."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from conversations.drafts import MessageDraft
from conversations.vocabulary import Dialect, GenerationStatus

# Marks in an envelope: the body with its variable pieces cut out. As in shells,
# JSON cannot hold them unescaped.
HOLE_MESSAGES = b"\x01"  # the messages after the preamble, joined by the style's comma
HOLE_PREAMBLE = b"\x02"  # a value: Anthropic's `system`, Responses' `instructions`
HOLE_LEADING = b"\x03"  # leading system and developer messages, as they stood in the list
HOLE_TOOLS = b"\x04"  # the value of `tools`


class Style(NamedTuple):
    """How a client's JSON writer spaces and escapes; together two cover the known SDKs."""

    comma: str
    colon: str
    is_ascii: bool


COMPACT = Style(comma=",", colon=":", is_ascii=False)
SPACED = Style(comma=", ", colon=": ", is_ascii=True)


class WireError(ValueError):
    """A body that is not what its dialect says, with the place in it (`messages.3.content.1`)."""

    def __init__(self, reason: str, *, place: str = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason = reason
        self.place = place


@dataclass(slots=True)
class ParsedRequest:
    """A request body, cut into the pieces that are stored.

    Joining the pieces again (`wire.render.render_request`) gives the body's
    bytes in one of the two styles, or differs and is patched. `leading` and
    `messages` hold drafts in order; `preamble` and `tools` are exact slices.
    """

    dialect: Dialect
    model: str
    is_stream: bool
    style: Style
    envelope: bytes
    messages: list[MessageDraft]
    preamble: bytes | None = None
    leading: bytes | None = None
    tools: bytes | None = None
    previous_response_id: str = ""
    hosted_conversation_id: str = ""


@dataclass(slots=True)
class Usage:
    """Tokens in disjoint buckets; None is unknown, which is not zero.

    `output` includes `reasoning`. `raw` is the provider's own object, as sent.
    """

    uncached_input: int | None = None
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    web_searches: int | None = None
    raw: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class ParsedResponse:
    """An answer as far as it arrived.

    `message` is None where nothing that can be kept arrived. `notes` say what
    was odd (a stop reason without the closing event, a call cut off).
    `alternatives` are further answers to the same request (`n` above one).
    """

    status: GenerationStatus
    message: MessageDraft | None
    usage: Usage | None = None
    served_model: str = ""
    provider_response_id: str = ""
    hosted_conversation_id: str = ""
    stop_reason: str = ""
    error_code: str = ""
    error_message: str = ""
    service_tier: str = ""
    notes: list[str] = field(default_factory=list)
    alternatives: list[MessageDraft] = field(default_factory=list)


Strength = Literal["refuse", "warn", "replay"]


@dataclass(slots=True, frozen=True)
class Violation:
    """A structural rule that a body would break; `place` names message and block."""

    rule: str
    strength: Strength
    place: str
    explanation: str
