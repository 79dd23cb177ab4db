"""Where secrets stand in a text, also in one that is JSON within a string, and behind one another."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from conversations.redaction.detectors import DETECTORS, Span
from conversations.vocabulary import SecretKind

# So often what a secret hid hides another at most; only a text that is made for it takes more than three.
_MOST_ROUNDS = 8
# As JSON escapes, however deep it lies in strings: each level doubles the backslashes.
_ESCAPE = re.compile(r'(?<!\\)\\+(?:u([0-9a-fA-F]{4})|([nrtbf])|(["/]))')


def find_secrets(text: str, *, kinds: frozenset[SecretKind]) -> list[Span]:
    """Return the spans of these kinds from left to right; those that overlap are one.

    What stands right behind a secret may be one only when that is gone: so it is looked at again without
    those that were found, and a text that was cut has nothing left to be cut when it comes back.
    """
    spans: list[Span] = []
    for _ in range(_MOST_ROUNDS):
        found = _look(text, kinds)
        spans += found
        if not found:
            break
        text = _without(text, found)
    return _merged(spans)


def _look(text: str, kinds: frozenset[SecretKind]) -> list[Span]:
    spans = _detect(text, kinds)
    # Arguments of calls are JSON in a string: there a line's end is a letter beside the next word.
    if "\\" in text and (plain := _unescape(text)).ends:
        spans += [
            replace(span, start=plain.place_of(span.start), end=plain.place_of(span.end))
            for span in _detect(plain.text, kinds)
        ]
    return _merged(spans)


def _detect(text: str, kinds: frozenset[SecretKind]) -> list[Span]:
    """In the detectors' own order, not the set's: a token that two of them find always gets the same mark."""
    return [span for kind, find in DETECTORS.items() if kind in kinds for span in find(text)]


@dataclass(slots=True)
class _Plain:
    """A text with one character for each escape, and where escapes end: there, and how much shorter it is."""

    text: str = ""
    ends: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)

    def place_of(self, place: int) -> int:
        """Return where in the escaped text a place of this one is; never inside an escape."""
        before = bisect_right(self.ends, place)
        return place + self.lost[before - 1] if before else place


def _unescape(text: str) -> _Plain:
    plain = _Plain()
    pieces: list[str] = []
    at = length = 0
    for match in _ESCAPE.finditer(text):
        code, space, sign = match.groups()
        pieces += [text[at : match.start()], chr(int(code, 16)) if code else "\n" if space else sign]
        length += match.start() - at + 1
        at = match.end()
        plain.ends.append(length)
        plain.lost.append(at - length)
    plain.text = "".join([*pieces, text[at:]])
    return plain


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
        elif span.end > merged[-1].end:
            merged[-1] = replace(merged[-1], end=span.end)
    return merged


def _without(text: str, spans: Sequence[Span]) -> str:
    """The text at its length; in place of each span stands what is no part of a word, as a mark is none."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += [text[at : span.start], "[" * (span.end - span.start - 1), "]"]
        at = span.end
    return "".join([*pieces, text[at:]])
