"""The parts of a message as the page shows them: words, calls with their results, folded lines.

What is withheld, lost or too large keeps its place and says how much it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from console.hostile import text_of
from console.thread import json_view
from console.thread.attachments import Attachment, attachment_of
from console.thread.effects import ShownEffect
from conversations.reads.window import CallLife, ShownPart
from conversations.vocabulary import CallStatus, PartBytes, PartType
from conversations.wire.shapes import COMPACT
from conversations.wire.shells import fill_strings

# What became of bytes that are no longer there.
_LOST: Final = {
    PartBytes.STRIPPED: "was stripped by a retention policy",
    PartBytes.ARCHIVED: "is in the archive",
    PartBytes.ERASED: "was erased",
}
_NAMES: Final = {
    PartType.TEXT: "Text",
    PartType.TOOL_USE: "Arguments",
    PartType.TOOL_RESULT: "Result",
    PartType.SERVER_TOOL_USE: "Server tool",
    PartType.SERVER_TOOL_RESULT: "Server tool's result",
    PartType.THINKING: "Thinking",
    PartType.IMAGE: "Image",
    PartType.DOCUMENT: "Document",
    PartType.OTHER: "Block",
}
_ARGUMENT_MEMBERS: Final = ("input", "arguments", "action", "operation")


@dataclass(slots=True)
class Shown:
    """What stands in for one part's bytes: `text` to read, or why there is none."""

    text: str = ""
    is_withheld: bool = False
    lost: str = ""
    characters: int = 0
    size: int = 0
    is_cut: bool = False
    repeated: Sequence[str] = ()


@dataclass(slots=True)
class Result:
    """A call's result, shown with its call."""

    seq: int
    ordinal: int
    shown: Shown
    is_error: bool


@dataclass(slots=True)
class Block:
    """One line or paragraph of a turn. `kind` picks its markup."""

    kind: str
    seq: int
    ordinal: int
    name: str
    shown: Shown
    peek: str = ""
    note: str = ""
    call_id: str | None = None
    is_minted_id: bool = False
    state: str = ""
    took: int | None = None
    error_code: str = ""
    results: list[Result] = field(default_factory=list)
    effects: Sequence[ShownEffect] = ()
    attachment: Attachment | None = None
    is_redacted: bool = False
    is_marked_copy: bool = False


def blocks_of(
    parts: Sequence[ShownPart],
    *,
    results: Mapping[str, ShownPart],
    lives: Mapping[tuple[int, str], CallLife],
    effects: Mapping[tuple[int, str], Sequence[ShownEffect]],
    is_open: bool,
) -> list[Block]:
    """Return the blocks of one message; `results` are those of its calls, by call id."""
    blocks = []
    for part in parts:
        if part.type == PartType.TOOL_RESULT and not part.orphan:
            continue  # stands with its call
        block = _block(part, is_open=is_open)
        if part.type == PartType.TOOL_USE and not part.orphan and part.tool_call_id is not None:
            _complete_call(block, part.tool_call_id, results=results, lives=lives, is_open=is_open)
            block.effects = effects.get((part.seq, part.tool_call_id), ())
        blocks.append(block)
    return blocks


def shown_of(part: ShownPart, *, is_open: bool) -> Shown:
    """Return a part's readable bytes: its words, or its JSON laid out."""
    lost = _LOST.get(PartBytes(part.bytes_state), "")
    if lost:
        trouble = f", which cannot be opened: {part.archive_trouble}" if part.archive_trouble else ""
        return Shown(lost=f"{_NAMES[PartType(part.type)]} {lost}{trouble}")
    if not is_open:
        return Shown(is_withheld=True, characters=part.characters, size=part.size)
    if part.text is not None:
        return Shown(part.text, characters=part.characters, size=part.size, is_cut=part.is_cut)
    if part.payload is None:
        return Shown(lost=f"{_NAMES[PartType(part.type)]} is too large to show here", size=part.size)
    return _laid_out(part)


def _laid_out(part: ShownPart) -> Shown:
    text = text_of(part.payload or b"")
    try:
        value = json_view.read(text)
    except ValueError:
        return Shown(text, characters=len(text), size=part.size)
    repeated = json_view.repeated_keys(value)
    laid_out = json_view.laid_out(_arguments(value) if part.type == PartType.TOOL_USE else value)
    return Shown(laid_out, characters=len(laid_out), size=part.size, repeated=repeated)


def arguments_value(part: ShownPart) -> object | None:
    """Return a call's arguments as read; None where they cannot be."""
    if part.payload is None and part.text is None:
        return None
    text = text_of(part.payload) if part.payload is not None else _filled(part)
    try:
        return _arguments(json_view.read(text))
    except ValueError:
        return None


def _filled(part: ShownPart) -> str:
    return fill_strings(part.shell, part.text or "", COMPACT) if part.shell else part.text or ""


def _arguments(value: object) -> object:
    """The arguments inside a call's block, whatever the dialect writes around them."""
    if not isinstance(value, json_view.Object):
        return value
    inner = value
    for wrapper in ("function", "custom"):
        if isinstance(wrapped := value.last(wrapper), json_view.Object):
            inner = wrapped
    for name in _ARGUMENT_MEMBERS:
        found = inner.last(name)
        if isinstance(found, str) and not isinstance(found, json_view.Spelt):
            try:
                return json_view.read(found)
            except ValueError:
                return found
        if found is not None:
            return found
    return value


def _block(part: ShownPart, *, is_open: bool) -> Block:
    kind = _KINDS[PartType(part.type)]
    if part.orphan:
        kind = "orphan"
    elif part.type == PartType.TEXT and part.text is None and part.payload is not None:
        kind = "folded"  # no reading of its words: a string that a client wrote in its own way
    block = Block(
        kind=kind,
        seq=part.seq,
        ordinal=part.ordinal,
        name=part.tool_name
        or _KNOWN_BY_PROVIDER.get(part.provider_type, ("",))[0]
        or part.provider_type
        or _NAMES[PartType(part.type)],
        shown=shown_of(part, is_open=is_open),
        call_id=part.tool_call_id,
        is_minted_id=part.is_minted_id,
        is_redacted=part.bytes_state == PartBytes.REDACTED,
        is_marked_copy=part.is_text_copy,
        note=_note(part),
    )
    if is_open:
        block.peek = _peek(part, block.shown)
    if kind == "attachment":
        block.attachment = attachment_of(part, is_open=is_open)
    return block


def _note(part: ShownPart) -> str:
    if part.type == PartType.OTHER and part.provider_type in _KNOWN_BY_PROVIDER:
        return _KNOWN_BY_PROVIDER[part.provider_type][1]
    return _NOTES.get((part.type, part.orphan), "")


def _peek(part: ShownPart, shown: Shown) -> str:
    if part.type in (PartType.TOOL_USE, PartType.SERVER_TOOL_USE):
        value = arguments_value(part)
        return json_view.peek_of(value) if value is not None else shown.text
    return shown.text


def _complete_call(
    block: Block,
    call_id: str,
    *,
    results: Mapping[str, ShownPart],
    lives: Mapping[tuple[int, str], CallLife],
    is_open: bool,
) -> None:
    life = lives.get((block.seq, call_id))
    if life is not None:
        block.state, block.error_code, block.took = life.status, life.error_code, life.duration_ms
    found = results.get(call_id)
    if found is not None:
        is_error = found.status == "error"
        if block.state == CallStatus.REQUESTED:
            block.state = CallStatus.FAILED if is_error else CallStatus.SUCCEEDED
        block.results.append(
            Result(found.seq, found.ordinal, shown_of(found, is_open=is_open), is_error=is_error)
        )


_KINDS: Final = {
    PartType.TEXT: "said",
    PartType.TOOL_USE: "call",
    PartType.TOOL_RESULT: "folded",
    PartType.SERVER_TOOL_USE: "folded",
    PartType.SERVER_TOOL_RESULT: "folded",
    PartType.THINKING: "folded",
    PartType.IMAGE: "attachment",
    PartType.DOCUMENT: "attachment",
    PartType.OTHER: "folded",
}
# Blocks that are no words of a turn, by the provider's name: what they are called here, and what they are.
_KNOWN_BY_PROVIDER: Final = {
    "user_editable_context": (
        "Profile context",
        "The customer's own profile and instructions, which the source sends along with every request",
    ),
}
_NOTES: Final = {
    (PartType.TOOL_RESULT.value, True): (
        "A result whose call is not in the message before, or has its result already: kept as received"
    ),
    (PartType.TOOL_USE.value, True): "A second call with an id that was used before: kept as received",
    (PartType.OTHER.value, False): "A block of a kind this program does not know: kept as received",
}
