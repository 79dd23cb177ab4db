"""Which words differ between two texts, told only where the two are mostly alike.

Two answers that share little are both read in full; marks all over them would
say less than none.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

# "2,000" and "don't" are one word each.
_WORDS: Final = re.compile(r"\s+|\w+(?:[.,:'’]\w+)*|[^\w\s]")
_OUTER_SPACE: Final = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)
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
    opcodes = matcher.get_opcodes()
    left = _pieces([("".join(a[start:end]), kind != "equal") for kind, start, end, _, _ in opcodes])
    right = _pieces([("".join(b[start:end]), kind != "equal") for kind, _, _, start, end in opcodes])
    return left, right


def _pieces(cuts: Sequence[tuple[str, bool]]) -> list[Piece]:
    """Join neighbours that are marked alike; white space around marked words stays unmarked."""
    pieces: list[Piece] = []
    for text, differs in cuts:
        match = _OUTER_SPACE.fullmatch(text)
        before, words, after = match.groups() if match and differs else ("", text, "")
        for piece in (Piece(before, False), Piece(words, differs), Piece(after, False)):
            if not piece.words:
                continue
            if pieces and pieces[-1].differs == piece.differs:
                piece = Piece(pieces.pop().words + piece.words, piece.differs)
            pieces.append(piece)
    return pieces
