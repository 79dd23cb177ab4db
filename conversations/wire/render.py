"""Pieces back into bytes: the inverse of cutting.

`RENDERER` is released and frozen: stored digests were proved with it. Another
way of rendering is a new number in `variants`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, HOLE_STRING, MessageDraft, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.forms import string_shell, text_block, usual_shell
from conversations.wire.literals import spell
from conversations.wire.shapes import (
    HOLE_LEADING,
    HOLE_MESSAGES,
    HOLE_PREAMBLE,
    HOLE_TOOLS,
    Style,
    WireError,
)
from conversations.wire.shells import FORM_STRING, fill_strings, spell_hole

RENDERER = 1

_SHORT = 256
_MARKS = re.compile("(\x01|\x02|\x03|\x04.)")
_ENVELOPE_MARKS = re.compile(b"(\x01|\x02|\x03|\x04)")
_BARE_MESSAGES = re.compile(b":[ \t\r\n]*\x01")


def render_part(part: PartDraft, *, dialect: Dialect, role: Role, style: Style) -> str:
    """The block's JSON. A part whose bytes are gone raises WireError."""
    if part.payload is not None:
        return part.payload.decode()
    if part.text is None:
        raise WireError(f"the bytes of a {part.type} part are gone")
    if part.shell is not None:
        return fill_strings(part.shell, part.text, style)
    before, after = text_block(dialect, role, style)
    return before + spell(part.text, style) + after


def render_message(message: MessageDraft, *, dialect: Dialect, style: Style) -> str:
    """The message's JSON; for Responses, the items of the turn joined by the style's comma."""
    role_name = message.provider_role or message.role.value
    shell = message.shell
    if shell is None:
        shell = usual_shell(dialect, message.role, role_name, message.parts, style)
    elif shell == FORM_STRING:
        shell = string_shell(role_name, style)
    pieces = _split(shell)
    # Odd places hold the marks; the mark for all blocks leaves one part to each other mark.
    spare = len(message.parts) - sum(mark != HOLE_BLOCKS for mark in pieces[1::2])
    parts = iter(message.parts)
    for place in range(1, len(pieces), 2):
        mark = pieces[place]
        if mark == HOLE_BLOCKS:
            blocks = [_block(next(parts), message, dialect, style) for _ in range(spare)]
            pieces[place] = style.comma.join(blocks)
        elif mark == HOLE_BLOCK:
            pieces[place] = _block(next(parts), message, dialect, style)
        else:
            pieces[place] = _string(next(parts), mark, style)
    return "".join(pieces)


def _split(shell: str) -> list[str]:
    """The shell's pieces and marks; short shells repeat, so theirs are kept."""
    return list(_split_short(shell)) if len(shell) <= _SHORT else _MARKS.split(shell)


@lru_cache(maxsize=1024)
def _split_short(shell: str) -> tuple[str, ...]:
    return tuple(_MARKS.split(shell))


def render_messages(messages: Sequence[MessageDraft], *, dialect: Dialect, style: Style) -> bytes:
    rendered = [render_message(message, dialect=dialect, style=style) for message in messages]
    return style.comma.join(rendered).encode()


def render_request(
    envelope: bytes,
    messages: Sequence[MessageDraft],
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


def _block(part: PartDraft, message: MessageDraft, dialect: Dialect, style: Style) -> str:
    return render_part(part, dialect=dialect, role=message.role, style=style)


def _string(part: PartDraft, mark: str, style: Style) -> str:
    """A bare string; its payload, where it has one, is the literal itself."""
    if part.payload is not None:
        return part.payload.decode()
    if part.text is None:
        raise WireError("the bytes of a text part are gone")
    return spell_hole(mark, part.text, style)


def _bare_input(messages: Sequence[MessageDraft], style: Style) -> bytes | None:
    """Responses' `input` as a bare string, where one user's text is all there is."""
    if len(messages) != 1 or messages[0].shell is None:
        return None
    (message,) = messages
    marks = _MARKS.findall(HOLE_STRING if message.shell == FORM_STRING else message.shell or "")
    if len(marks) != 1 or len(message.parts) != 1 or message.parts[0].type != PartType.TEXT:
        return None
    return _string(message.parts[0], marks[0], style).encode()
