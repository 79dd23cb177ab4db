"""The ways of rendering a body from its rows, by number; a released one is frozen, a change is a new number.

1. The stored pieces as they are.
2. What providers wrote, spaced and escaped in the request's style: clients that
   read an answer into objects write it anew in their own JSON.
3. As 2, with the keys inside call arguments sorted, as map types do.

Whichever leaves the smallest patch is taken; see `proving`.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from conversations.drafts import HOLE_STRING, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.render import RENDERER, Block, Renderable, render_request
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


@dataclass(frozen=True, slots=True)
class _Restyled:
    """A message with its parts written anew."""

    role: Role
    provider_role: str
    shell: str | None
    parts: Sequence[Block]


def render_body(pieces: BodyPieces, messages: Sequence[Renderable], *, renderer: int) -> bytes:
    """Render a body by the renderer of that number; WireError where a message's bytes are gone."""
    if renderer != AS_STORED:
        restyle = partial(_restyled, style=pieces.style, sorts_arguments=renderer == SORTED_ARGUMENTS)
        messages = [
            _Restyled(message.role, message.provider_role, message.shell, list(map(restyle, message.parts)))
            for message in messages
        ]
    return render_request(
        pieces.envelope,
        messages,
        dialect=pieces.dialect,
        style=pieces.style,
        preamble=pieces.preamble,
        leading=pieces.leading,
        tools=pieces.tools,
    )


def _restyled(part: PartDraft | Block, *, style: Style, sorts_arguments: bool) -> Block:
    payload, shell = part.payload, part.shell
    if payload is not None:
        payload = _rewrite(payload, style, sorts=sorts_arguments and part.type == PartType.TOOL_USE)
    elif shell is not None and HABIT not in shell and RUN not in shell:
        shell = _restyled_shell(shell, style)
    return Block(part.type, part.text, payload, shell)


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
