"""One part with all its bytes, as received, and the reading of it beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from console.hostile import text_of
from console.thread import json_view
from conversations.drafts import PartDraft
from conversations.reads.path import read_messages
from conversations.replay.bodies import DamagedError
from conversations.vocabulary import Dialect, Role
from conversations.wire.render import render_part
from conversations.wire.shapes import COMPACT, WireError


@dataclass(frozen=True, slots=True)
class RawPart:
    """`payload` is the block's JSON; `text` its words where it has any."""

    seq: int
    ordinal: int
    type: str
    name: str
    payload: bytes
    text: str | None
    repeated: Sequence[str]
    is_read_back: bool

    @property
    def shown(self) -> str:
        return text_of(self.payload)


def read_raw_part(*, conversation_id: UUID, seq: int, ordinal: int) -> RawPart | None:
    """Return the part with its bytes, out of blob storage where they lie there; None where there is none.

    A text part keeps no JSON of its own: what it is shown as is rendered from its words.
    Raises DamagedError where it lies in an archive that cannot be opened.
    """
    messages = read_messages(conversation_id=conversation_id, seqs=[seq])
    if not messages or ordinal >= len(messages[0].draft.parts):
        return None
    message = messages[0]
    if ordinal in message.lost_parts:
        if message.lost_why:
            raise DamagedError(message.lost_why, place=f"message {seq}, block {ordinal}")
        return None
    part = message.draft.parts[ordinal]
    payload, is_read_back = _payload(part, message.dialect, message.draft.role)
    return RawPart(
        seq=seq,
        ordinal=ordinal,
        type=part.type.value,
        name=part.tool_name or part.provider_type or part.type.value,
        payload=payload,
        text=part.text,
        repeated=_repeated(payload),
        is_read_back=is_read_back,
    )


def _payload(part: PartDraft, dialect: Dialect | None, role: Role) -> tuple[bytes, bool]:
    if part.payload is not None:
        return part.payload, False
    try:
        rendered = render_part(part, dialect=dialect or Dialect.ANTHROPIC_MESSAGES, role=role, style=COMPACT)
    except WireError:
        return (part.text or "").encode("utf-8", "surrogatepass"), True
    return rendered.encode("utf-8", "surrogatepass"), True


def _repeated(payload: bytes) -> Sequence[str]:
    try:
        return json_view.repeated_keys(json_view.read(text_of(payload)))
    except ValueError:
        return ()
