"""Cutting a body into what is stored: frames with holes, texts, exact payloads."""

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, HOLE_STRING, PartDraft
from conversations.vocabulary import PartType, Role
from conversations.wire.literals import readable_copy
from conversations.wire.shapes import SPACED, Style
from conversations.wire.shells import HABIT, join_texts, mark_for, mark_texts
from conversations.wire.slices import Sliced

# A shell that outgrows this (an image beside a text, say) is not kept in a
# column: the block becomes a payload, which may move to blob storage.
LONGEST_SHELL = 16_384
LONGEST_ID = 255
LONGEST_NAME = 200
LONGEST_ROLE = 64
_NON_ASCII_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])")
SINGLE_MARKS = (HOLE_BLOCK, HOLE_STRING, HABIT)


class TextPlace(NamedTuple):
    """A string inside a block that somebody said: its literal's span and its value."""

    start: int
    end: int
    text: str


class Hole(NamedTuple):
    """A span of a message that is cut out, and the mark left in its place."""

    start: int
    end: int
    mark: str


def detect_style(text: str, body: Sliced) -> Style:
    """How the body's writer spaces and escapes, judged by its first members and its strings."""
    if not body.members:
        return SPACED
    first = body.members[0]
    between = text[first.start : first.value_start]
    colon = ": " if between.endswith(": ") else ":"
    comma = ", " if colon == ": " else ","
    if len(body.members) > 1:
        comma = ", " if text[first.end : body.members[1].start] == ", " else ","
    if not text.isascii():
        return Style(comma, colon, is_ascii=False)
    # A pure ASCII body shows its writer's habit only where it escaped more than control characters.
    has_escapes = "\\u" in text and _NON_ASCII_ESCAPE.search(text) is not None
    return Style(comma, colon, is_ascii=has_escapes or comma == ", ")


def cut_block(
    text: str,
    *,
    start: int,
    end: int,
    places: Sequence[TextPlace],
    style: Style,
    taken_out: Sequence[tuple[int, int]] = (),
) -> PartDraft:
    """The block's bytes as text in a shell, or as payload; `taken_out` are spans to leave away."""
    part = PartDraft(type=PartType.TEXT)
    if not places and not taken_out:
        part.payload = text[start:end].encode()
        return part
    if not places:
        part.payload = _without(text, start, end, taken_out).encode()
        return part
    texts = [place.text for place in places]
    marks = [mark_for(place.text, text[place.start : place.end], style) for place in places]
    known = [mark for mark in marks if mark is not None]
    if len(known) == len(marks):
        part.text = texts[0] if len(texts) == 1 else "\n".join(texts)
        runs = mark_texts(texts, known)
        spans = [(place.start, place.end, run) for place, run in zip(places, runs, strict=True)]
        spans += [(gone_start, gone_end, "") for gone_start, gone_end in taken_out]
        part.shell = replace_spans(text, start, end, spans)
        if len(part.shell) <= LONGEST_SHELL:
            return part
        part.shell = None
    part.text = join_texts(texts)
    part.payload = _without(text, start, end, taken_out).encode()
    part.is_text_copy = True
    return part


def cut_string(text: str, *, start: int, end: int, value: str, style: Style) -> tuple[PartDraft, str]:
    """A bare string as a text part, and the mark for the message's shell.

    Where no spelling gives the literal back, the payload is the literal itself.
    """
    mark = mark_for(value, text[start:end], style)
    if mark is not None:
        return PartDraft(PartType.TEXT, text=value), mark
    literal = text[start:end].encode()
    part = PartDraft(PartType.TEXT, text=readable_copy(value), payload=literal, is_text_copy=True)
    return part, HOLE_STRING


def _without(text: str, start: int, end: int, taken_out: Sequence[tuple[int, int]]) -> str:
    if not taken_out:
        return text[start:end]
    return replace_spans(text, start, end, [(gone_start, gone_end, "") for gone_start, gone_end in taken_out])


def replace_spans(text: str, start: int, end: int, spans: Iterable[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    position = start
    for span_start, span_end, replacement in sorted(spans):
        pieces.append(text[position:span_start])
        pieces.append(replacement)
        position = span_end
    pieces.append(text[position:end])
    return "".join(pieces)


class FramedMessage(NamedTuple):
    """A message of the list, cut, with its shell spelled out in full."""

    role: Role
    provider_role: str
    parts: list[PartDraft]
    shell: str
    start: int
    end: int
    wire_index: int


def frame(text: str, start: int, end: int, holes: Sequence[Hole], style: Style) -> str:
    """The message's own JSON around its parts.

    The last run of neighbouring blocks becomes one mark, so that the same
    frame serves any number of parts; one earlier run must keep a mark each.
    """
    tail = _last_run(text, holes, style)
    spans = [*holes[: len(holes) - len(tail)]]
    if len(tail) > 1 or (tail and tail[0].mark == HOLE_BLOCK):
        spans.append(Hole(tail[0].start, tail[-1].end, HOLE_BLOCKS))
    else:
        spans += tail
    return replace_spans(text, start, end, spans)


def _last_run(text: str, holes: Sequence[Hole], style: Style) -> Sequence[Hole]:
    """The blocks at the end that stand in one list, parted by the style's comma alone."""
    first = len(holes)
    while first and holes[first - 1].mark == HOLE_BLOCK:
        if first < len(holes) and text[holes[first - 1].end : holes[first].start] != style.comma:
            break
        first -= 1
    return holes[first:] if first < len(holes) else holes[len(holes) - 1 :]


def cache_marks(sliced: Sliced, names: Collection[str]) -> list[tuple[int, int]]:
    """The spans of a block's caching marks, which are no part of what was said."""
    members = sliced.members
    spans: list[tuple[int, int]] = []
    leading = 0
    for place, member in enumerate(members):
        if member.key not in names:
            continue
        if place == leading:
            leading += 1
        else:
            spans.append((members[place - 1].end, member.end))
    if leading:
        # Marks that stand first take the comma after them, so that none is left over.
        end = members[leading].start if leading < len(members) else members[-1].end
        spans.append((members[0].start, end))
    return spans


def cut_envelope(text: str, spans: Iterable[tuple[int, int, bytes]]) -> bytes:
    return replace_spans(
        text, 0, len(text), [(start, end, mark.decode()) for start, end, mark in spans]
    ).encode()


def call_key(value: object) -> str | None:
    """A call id as the store holds it: None where there is none, a digest where no column could hold it."""
    if not isinstance(value, str) or not value:
        return None
    if len(value) <= LONGEST_ID:
        return readable_copy(value)
    return "minted-" + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def name_of(value: object) -> str:
    """A tool's or a type's name, short and storable; the payload keeps it in full."""
    return readable_copy(value[:LONGEST_NAME]) if isinstance(value, str) else ""


def role_of(value: object) -> tuple[Role, str]:
    """The role, and the provider's own name for it where it differs; who says nothing is a user."""
    if not isinstance(value, str):
        return Role.USER, ""
    role = _ROLES.get(value)
    if role is not None:
        return role, "" if role == value else value
    return _nearest_role(value.lower()), name_of(value)[:LONGEST_ROLE]


_ROLES = {role.value: role for role in Role}


def _nearest_role(name: str) -> Role:
    if name in ("function", "tool_result", "ipython", "observation"):
        return Role.TOOL
    if name in ("model", "ai", "bot", "critic", "discriminator"):
        return Role.ASSISTANT
    return Role.USER


def merge_turn(text: str, pieces: Sequence[FramedMessage], style: Style) -> FramedMessage:
    """Adjacent messages of one turn as one, with the layout of each kept in the shell."""
    first = pieces[0]
    layout = [_spread(first, style)]
    parts = list(first.parts)
    for before, piece in pairwise(pieces):
        layout += [text[before.end : piece.start], _spread(piece, style)]
        parts += piece.parts
    shell = "".join(layout)
    if shell == style.comma.join(HOLE_BLOCK for _ in parts):
        shell = HOLE_BLOCKS
    return first._replace(end=pieces[-1].end, shell=shell, parts=parts)


def _spread(message: FramedMessage, style: Style) -> str:
    """The shell with one mark for each block: in a longer shell `all blocks` would be ambiguous."""
    if HOLE_BLOCKS not in message.shell:
        return message.shell
    count = len(message.parts) - sum(message.shell.count(mark) for mark in SINGLE_MARKS)
    return message.shell.replace(HOLE_BLOCKS, style.comma.join(HOLE_BLOCK * count))
