"""Which words differ between two texts, told only where the two are mostly alike.

Two answers that share little are both read in full; marks all over them would
say less than none.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOSTLY: Final = 0.5
# Matching is quadratic at its worst; past this a reader would not look for single words either.
_MOST_WORDS: Final = 1_500


class Piece(NamedTuple):
    words: str
    differs: bool


def differing(one: str, other: str) -> tuple[list[Piece], list[Piece]] | None:
    """Return both texts cut into what they share and what they do not; None where they are not alike."""
    a, b = _WORDS.findall(one), _WORDS.findall(other)
    if not a or not b or len(a) > _MOST_WORDS or len(b) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if one != other and (matcher.real_quick_ratio() < _MOSTLY or matcher.ratio() < _MOSTLY):
        return None
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a_start, a_end, b_start, b_end in matcher.get_opcodes():
        is_different = kind != "equal"
        _add(left, a[a_start:a_end], is_different)
        _add(right, b[b_start:b_end], is_different)
    return left, right


def _add(pieces: list[Piece], words: Sequence[str], differs: bool) -> None:
    text = "".join(words)
    if not text:
        return
    # White space between two marked words belongs to the mark; alone it is no difference.
    if differs and not text.strip():
        differs = bool(pieces) and pieces[-1].differs
    if pieces and pieces[-1].differs == differs:
        text = pieces.pop().words + text
    pieces.append(Piece(text, differs))
