"""Shells: JSON with its texts or parts cut out, and how the holes are filled again.

Besides the three marks of `conversations.drafts` a shell may hold:

- `\\x04` and a letter: a string in the spelling of that habit (`literals.HABITS`)
- `\\x05`, a number and one of the string marks: the next so many characters of
  the part's text. Texts of several holes are joined by one newline.
- `\\x06` alone: the message in its dialect's usual form with a bare string.

Shells are stored: a mark is never given another meaning.
"""

import re
from collections.abc import Sequence

from conversations.drafts import HOLE_STRING
from conversations.wire.literals import HABITS, find_habit, is_storable, readable_copy, spell
from conversations.wire.shapes import Style

HABIT = "\x04"
RUN = "\x05"
FORM_STRING = "\x06"

_SPACE_OR_STRING = re.compile(r'("(?:[^"\\]|\\.)*")|[ \t\r\n]+')
_STRING_HOLE = re.compile("(?:\x05([0-9]+))?(?:\x02|\x04(.))")


def mark_for(text: str, literal: str, style: Style) -> str | None:
    """The mark that stands for `literal` in a shell; None if no spelling we know gives it back."""
    if not is_storable(text):
        return None
    if literal == spell(text, style):
        return HOLE_STRING
    letter = find_habit(text, literal)
    return None if letter is None else HABIT + letter


def mark_texts(texts: Sequence[str], marks: Sequence[str]) -> list[str]:
    """The marks with the lengths of their texts, where there are several."""
    if len(marks) == 1:
        return list(marks)
    return [f"{RUN}{len(text)}{mark}" for text, mark in zip(texts, marks, strict=True)]


def join_texts(texts: Sequence[str]) -> str:
    return "\n".join(readable_copy(text) for text in texts)


def fill_strings(shell: str, text: str, style: Style) -> str:
    """The shell with its string holes filled from `text`."""
    if shell.count(HOLE_STRING) == 1 and HABIT not in shell and RUN not in shell:
        return shell.replace(HOLE_STRING, spell(text, style))
    filled: list[str] = []
    position = 0
    for hole, piece in _holes(shell, text):
        filled.append(shell[position : hole.start()])
        filled.append(spell(piece, style) if hole[2] is None else HABITS[hole[2]](piece))
        position = hole.end()
    filled.append(shell[position:])
    return "".join(filled)


def squeeze(shell: str) -> str:
    """The shell without white space outside its strings."""
    return _SPACE_OR_STRING.sub(lambda match: match[1] or "", shell)


def spell_hole(mark: str, text: str, style: Style) -> str:
    """The literal for one string mark of a message's shell."""
    return HABITS[mark[1]](text) if mark.startswith(HABIT) else spell(text, style)


def _holes(shell: str, text: str) -> list[tuple[re.Match[str], str]]:
    found: list[tuple[re.Match[str], str]] = []
    position = 0
    for hole in _STRING_HOLE.finditer(shell):
        if hole[1] is None:
            found.append((hole, text))
            continue
        end = position + int(hole[1])
        found.append((hole, text[position:end]))
        position = end + 1
    return found
