"""The ways of rendering a body from its rows, by number; a released one is frozen, a change is a new number.

1. The stored pieces as they are.
2. What providers wrote, spaced and escaped in the request's style: clients that
   read an answer into objects write it anew in their own JSON.
3. As 2, with the keys inside call arguments sorted, as map types do.

Whichever leaves the smallest patch is taken; see `proving`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from conversations.drafts import HOLE_STRING, MessageDraft, PartDraft
from conversations.vocabulary import Dialect, PartType
from conversations.wire.render import RENDERER, render_request
from conversations.wire.shapes import Style
from conversations.wire.shells import HABIT, RUN

AS_STORED = RENDERER
RESTYLED = 2
SORTED_ARGUMENTS = 3
NUMBERS = frozenset({AS_STORED, RESTYLED, SORTED_ARGUMENTS})

_HOLE_LITERAL = '"\\u0002"'


@dataclass(frozen=True, slots=True)
class BodyPieces:
    """What a body is joined from, besides its messages."""

    dialect: Dialect
    style: Style
    envelope: bytes
    preamble: bytes | None = None
    leading: bytes | None = None
    tools: bytes | None = None


def render_body(pieces: BodyPieces, messages: Sequence[MessageDraft], *, renderer: int) -> bytes:
    """Render a body by the renderer of that number; WireError where a message's bytes are gone."""
    if renderer != AS_STORED:
        restyle = partial(_restyled, style=pieces.style, sorts_arguments=renderer == SORTED_ARGUMENTS)
        messages = [replace(message, parts=[restyle(part) for part in message.parts]) for message in messages]
    return render_request(
        pieces.envelope,
        messages,
        dialect=pieces.dialect,
        style=pieces.style,
        preamble=pieces.preamble,
        leading=pieces.leading,
        tools=pieces.tools,
    )


def _restyled(part: PartDraft, *, style: Style, sorts_arguments: bool) -> PartDraft:
    if part.payload is not None:
        sorts = sorts_arguments and part.type == PartType.TOOL_USE
        return replace(part, payload=_rewrite(part.payload, style, sorts=sorts))
    if part.shell is not None and HABIT not in part.shell and RUN not in part.shell:
        return replace(part, shell=_restyled_shell(part.shell, style))
    return part


@lru_cache(maxsize=1024)
def _restyled_shell(shell: str, style: Style) -> str:
    filled = shell.replace(HOLE_STRING, _HOLE_LITERAL)
    try:
        return _dumps(json.loads(filled), style).replace(_HOLE_LITERAL, HOLE_STRING)
    except ValueError:
        return shell


def _rewrite(payload: bytes, style: Style, *, sorts: bool) -> bytes:
    try:
        value = json.loads(payload)
        if sorts and isinstance(value, dict):
            value = {key: _sorted(item) if key == "input" else item for key, item in value.items()}
        return _dumps(value, style).encode()
    except (ValueError, RecursionError):
        return payload  # no JSON that a client could have read: it stays as it is


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def _dumps(value: object, style: Style) -> str:
    return _writer(style)(value)


@lru_cache(maxsize=8)
def _writer(style: Style) -> Callable[[object], str]:
    return json.JSONEncoder(ensure_ascii=style.is_ascii, separators=(style.comma, style.colon)).encode
