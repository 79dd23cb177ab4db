"""Pieces back into bytes: the inverse of cutting.

`RENDERER` is released and frozen: stored digests were proved with it. Another
way of rendering is a new number in `variants`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, HOLE_STRING, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.forms import string_shell, text_block, usual_shell
from conversations.wire.literals import spell_bytes
from conversations.wire.shapes import (
    HOLE_LEADING,
    HOLE_MESSAGES,
    HOLE_PREAMBLE,
    HOLE_TOOLS,
    Style,
    WireError,
)
from conversations.wire.shells import FORM_STRING, HABIT, RUN, fill_strings, spell_hole

RENDERER = 1

_SHORT = 256
_MARKS = re.compile("(\x01|\x02|\x03|\x04.)")
_ENVELOPE_MARKS = re.compile(b"(\x01|\x02|\x03|\x04)")
_BARE_MESSAGES = re.compile(b":[ \t\r\n]*\x01")


class Block(NamedTuple):
    """A part as far as rendering needs it; cheaper than a draft, where it is made for nothing else."""

    type: str
    text: str | None
    payload: bytes | None
    shell: str | None


class Renderable(Protocol):
    """A message as far as rendering needs it."""

    @property
    def role(self) -> Role: ...
    @property
    def provider_role(self) -> str: ...
    @property
    def shell(self) -> str | None: ...
    @property
    def parts(self) -> Sequence[PartDraft | Block]: ...


def render_part(part: PartDraft | Block, *, dialect: Dialect, role: Role, style: Style) -> str:
    """The block's JSON. A part whose bytes are gone raises WireError."""
    return b"".join(_blocks([part], role, dialect, style)).decode()


def render_message(message: Renderable, *, dialect: Dialect, style: Style) -> str:
    """The message's JSON; for Responses, the items of the turn joined by the style's comma."""
    return b"".join(_message(message, dialect, style)).decode()


def render_messages(messages: Sequence[Renderable], *, dialect: Dialect, style: Style) -> bytes:
    comma = style.comma.encode()
    pieces: list[bytes] = []
    for message in messages:
        pieces.append(comma)
        pieces += _message(message, dialect, style)
    return b"".join(pieces[1:])


# Pieces are gathered flat and joined once: a body has hundreds of parts, and a call or a copy for each
# would cost more than all else.
def _message(message: Renderable, dialect: Dialect, style: Style) -> list[bytes]:
    role, parts, shell = message.role, message.parts, message.shell
    role_name = message.provider_role or role
    if shell is None:
        shell = usual_shell(dialect, role, role_name, parts, style)
    elif shell == FORM_STRING:
        shell = string_shell(role_name, style)
    # Short shells repeat, so what they are cut into is kept.
    start, holes = _cut_short(shell) if len(shell) <= _SHORT else _cut(shell)
    if len(holes) == 1 and holes[0][0] == HOLE_BLOCKS:
        pieces = _blocks(parts, role, dialect, style)
        return [start, *pieces, holes[0][1]]
    # The mark for all blocks leaves one part to each other mark.
    spare = max(0, len(parts) - sum(mark != HOLE_BLOCKS for mark, _ in holes))
    pieces = [start]
    position = 0
    for mark, following in holes:
        end = position + (spare if mark == HOLE_BLOCKS else 1)
        if mark in (HOLE_BLOCKS, HOLE_BLOCK):
            pieces += _blocks(parts[position:end], role, dialect, style)
        else:
            pieces.append(_string(parts[position], mark, style))
        pieces.append(following)
        position = end
    return pieces


def _blocks(parts: Sequence[PartDraft | Block], role: Role, dialect: Dialect, style: Style) -> list[bytes]:
    """The blocks' pieces, with commas between them."""
    comma, before, after = _text_frame(dialect, role, style)
    pieces: list[bytes] = []
    for part in parts:
        text, shell = part.text, part.shell
        if part.payload is not None:
            pieces += (comma, part.payload)
        elif text is None:
            raise WireError(f"the bytes of a {part.type} part are gone")
        elif shell is None:
            pieces += (comma, before, spell_bytes(text, style), after)
        else:
            pieces += (comma, *_filled(shell, text, style))
    return pieces[1:]


def _filled(shell: str, text: str, style: Style) -> tuple[bytes, ...]:
    before, hole, after = shell.partition(HOLE_STRING)
    if hole and HOLE_STRING not in after and HABIT not in shell and RUN not in shell:
        return before.encode(), spell_bytes(text, style), after.encode()
    return (fill_strings(shell, text, style).encode(),)


@lru_cache(maxsize=64)
def _text_frame(dialect: Dialect, role: Role, style: Style) -> tuple[bytes, bytes, bytes]:
    """A comma, and what stands before and after the literal in a plain text block."""
    before, after = text_block(dialect, role, style)
    return style.comma.encode(), before.encode(), after.encode()


type _Holes = tuple[tuple[str, bytes], ...]


def _cut(shell: str) -> tuple[bytes, _Holes]:
    """What stands before the first mark, and each mark with what follows it."""
    start, *rest = _MARKS.split(shell)
    return start.encode(), tuple(zip(rest[::2], (piece.encode() for piece in rest[1::2]), strict=True))


_cut_short = lru_cache(maxsize=1024)(_cut)


def render_request(
    envelope: bytes,
    messages: Sequence[Renderable],
    *,
    dialect: Dialect,
    style: Style,
    preamble: bytes | None = None,
    leading: bytes | None = None,
    tools: bytes | None = None,
) -> bytes:
    """The whole body: the envelope with its pieces in their places."""
    listed = render_messages(messages, dialect=dialect, style=style)
    if _BARE_MESSAGES.search(envelope):
        listed = _bare_input(messages, style) or b"[" + listed + b"]"
    if leading and listed:
        listed = style.comma.encode() + listed
    values = {
        HOLE_MESSAGES: listed,
        HOLE_LEADING: leading or b"",
        HOLE_PREAMBLE: preamble or b"null",
        HOLE_TOOLS: tools or b"[]",
    }
    pieces = _ENVELOPE_MARKS.split(envelope)
    for place in range(1, len(pieces), 2):
        pieces[place] = values[pieces[place]]
    return b"".join(pieces)


def _string(part: PartDraft | Block, mark: str, style: Style) -> bytes:
    """A bare string; its payload, where it has one, is the literal itself."""
    if part.payload is not None:
        return part.payload
    if part.text is None:
        raise WireError("the bytes of a text part are gone")
    return spell_hole(mark, part.text, style).encode()


def _bare_input(messages: Sequence[Renderable], style: Style) -> bytes | None:
    """Responses' `input` as a bare string, where one user's text is all there is."""
    if len(messages) != 1 or messages[0].shell is None:
        return None
    (message,) = messages
    marks = _MARKS.findall(HOLE_STRING if message.shell == FORM_STRING else message.shell or "")
    if len(marks) != 1 or len(message.parts) != 1 or message.parts[0].type != PartType.TEXT:
        return None
    return _string(message.parts[0], marks[0], style)
