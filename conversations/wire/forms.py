"""The usual forms: what a dialect's clients write where nothing special is said.

A part or message in its usual form needs no shell, in whichever style and
dialect it is rendered. Stored rows rely on these: a form is never changed.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Protocol

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, HOLE_STRING
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.shapes import Style

# The provider's name of its plain text block, for the machine's words and for all others.
OUTPUT_TEXT = "output_text"
INPUT_TEXT = "input_text"


class Typed(Protocol):
    """A part as far as its message's frame depends on it."""

    @property
    def type(self) -> str: ...
    @property
    def shell(self) -> str | None: ...


def text_type(dialect: Dialect, role: Role) -> str:
    if dialect != Dialect.OPENAI_RESPONSES:
        return "text"
    return OUTPUT_TEXT if role == Role.ASSISTANT else INPUT_TEXT


@lru_cache(maxsize=64)
def text_block(dialect: Dialect, role: Role, style: Style) -> tuple[str, str]:
    """What stands before and after the literal in a plain text block."""
    name = text_type(dialect, role)
    return f'{{"type"{style.colon}"{name}"{style.comma}"text"{style.colon}', "}"


@lru_cache(maxsize=256)
def string_shell(role_name: str, style: Style) -> str:
    """A message whose content is a bare string."""
    return f'{{"role"{style.colon}"{role_name}"{style.comma}"content"{style.colon}{HOLE_STRING}}}'


@lru_cache(maxsize=256)
def list_shell(role_name: str, style: Style) -> str:
    """A message whose content is a list of blocks."""
    return f'{{"role"{style.colon}"{role_name}"{style.comma}"content"{style.colon}[{HOLE_BLOCKS}]}}'


def usual_shell(dialect: Dialect, role: Role, role_name: str, parts: Sequence[Typed], style: Style) -> str:
    """The usual frame for these parts."""
    if dialect == Dialect.ANTHROPIC_MESSAGES:
        return list_shell(role_name, style)
    if role == Role.TOOL and parts and all(part.type == PartType.TOOL_RESULT for part in parts):
        return HOLE_BLOCKS
    if dialect == Dialect.OPENAI_RESPONSES:
        return _items_shell(role_name, parts, style)
    if any(part.type == PartType.TOOL_USE for part in parts):
        return _calling_shell(role_name, parts, style)
    return list_shell(role_name, style)


def _calling_shell(role_name: str, parts: Sequence[Typed], style: Style) -> str:
    """Chat: the text as a string or null, the calls in a list of their own."""
    comma, colon = style.comma, style.colon
    texts = [part for part in parts if part.type != PartType.TOOL_USE]
    content = "null"
    if len(texts) == 1 and texts[0].type == PartType.TEXT and texts[0].shell is None:
        content = HOLE_STRING
    elif texts:
        content = f"[{comma.join(HOLE_BLOCK for _ in texts)}]"
    return (
        f'{{"role"{colon}"{role_name}"{comma}"content"{colon}{content}'
        f'{comma}"tool_calls"{colon}[{HOLE_BLOCKS}]}}'
    )


def _items_shell(role_name: str, parts: Sequence[Typed], style: Style) -> str:
    """Responses: text stands in message items, everything the model did is an item of its own."""
    runs = [
        (is_framed, list(run))
        for is_framed, run in groupby(parts, key=lambda part: is_content(role_name, part.type))
    ]
    if not runs:
        return list_shell(role_name, style)
    if len(runs) == 1:
        return list_shell(role_name, style) if runs[0][0] else HOLE_BLOCKS
    framed = list_shell(role_name, style)
    return style.comma.join(
        framed.replace(HOLE_BLOCKS, style.comma.join(HOLE_BLOCK for _ in run))
        if is_framed
        else style.comma.join(HOLE_BLOCK for _ in run)
        for is_framed, run in runs
    )


def is_content(role_name: str, kind: str) -> bool:
    """Whether Responses writes such a part inside a message item, not as an item."""
    if role_name == Role.ASSISTANT:
        return kind == PartType.TEXT
    return kind in (PartType.TEXT, PartType.IMAGE, PartType.DOCUMENT)
