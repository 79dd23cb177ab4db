"""Cutting secrets out of texts and bodies: what stays is JSON where JSON was, and says what stood there.

A body is cut literal by literal, so that no cut breaks its JSON: inside a string the mark stands in
the string, a bare number becomes a string with the mark. In a stream a secret may be spread over
many frames; the pieces of one text are joined, looked at as one, and cut in their frames.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from conversations.redaction.detectors import Span
from conversations.redaction.finding import find_secrets
from conversations.vocabulary import SecretKind
from conversations.wire.streams.events import is_event_stream

# A string, or what is left of one that broke off: then its group is empty. It is taken whole, as
# to look behind each escaped quote of it again would cost its length each time.
_LITERAL = re.compile(r'"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)
_KEY_AHEAD = re.compile(r"\s*:")
# A string, a number, or the bounds of an object: what stands between them is of no matter.
_TOKEN = re.compile(rf"{_LITERAL.pattern}|[{{}}]|\d+", re.DOTALL)
# JSON within a text: a member's name with its quote as it is escaped there, and what follows its value.
_NAME_BEFORE = re.compile(r'(\\*")\s*:\s*\Z')
_LONGEST_NAME_END = 80
_VALUE_ENDS = re.compile(r"\s*(?:[,}]|\Z)")
# What tells the texts of one stream from each other.
_PLACES = frozenset({'"index"', '"output_index"', '"content_index"', '"item_id"'})


@dataclass(frozen=True, slots=True)
class Cut:
    """A text with its secrets cut out, and where the marks stand in it now."""

    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class CutBody:
    body: bytes
    spans: tuple[Span, ...] = ()


def mark(kind: SecretKind) -> str:
    return f"[cut: {kind.label}]"


def cut_text(text: str, *, kinds: frozenset[SecretKind]) -> Cut:
    """Return the text with a mark in place of each secret."""
    pieces: list[str] = []
    spans: list[Span] = []
    at = length = 0
    for span in find_secrets(text, kinds=kinds):
        quote = _quote_at(text, span)
        pieces += [text[at : span.start], quote, mark(span.kind), quote]
        length += span.start - at + len(quote)
        spans.append(Span(span.kind, length, length + len(mark(span.kind))))
        length, at = spans[-1].end + len(quote), span.end
    return Cut("".join([*pieces, text[at:]]), tuple(spans)) if spans else Cut(text)


def _quote_at(text: str, span: Span) -> str:
    """How the name is quoted whose value a bare number was, if it was one: else its JSON would be none."""
    name = _NAME_BEFORE.search(text, max(0, span.start - _LONGEST_NAME_END), span.start)
    is_number = name and text[span.start : span.end].isdecimal() and _VALUE_ENDS.match(text, span.end)
    return name[1] if name and is_number else ""


def cut_body(body: bytes, *, kinds: frozenset[SecretKind]) -> CutBody:
    """Cut a request, an answer or a stream; one without secrets is returned as it is.

    Spans are counted in characters of the cut body.
    """
    text = body.decode("utf-8", "surrogateescape")
    is_stream = is_event_stream(body)
    # Where nothing is escaped, literals say what stands in the text: one look tells that nothing is there.
    if not is_stream and "\\" not in text and not find_secrets(text, kinds=kinds):
        return CutBody(body)
    if is_stream:
        text = _cut_across_frames(text, kinds)
    cut = "".join(_cut_pieces(text, kinds))
    if cut == body.decode("utf-8", "surrogateescape"):
        return CutBody(body)
    return CutBody(cut.encode("utf-8", "surrogateescape"), tuple(marks_in(cut)))


def cut_json(text: str, *, kinds: frozenset[SecretKind]) -> str:
    """Cut JSON that is no whole value: what stands around a block's words."""
    return "".join(_cut_pieces(text, kinds))


def _cut_pieces(text: str, kinds: frozenset[SecretKind]) -> Iterator[str]:
    """Between literals stand numbers, names of events and white space; inside them stands what was said."""
    at = 0
    for match in _LITERAL.finditer(text):
        yield _cut_bare(text[at : match.start()], kinds)
        yield _cut_literal(match[0], kinds) if match[1] else cut_text(match[0], kinds=kinds).text
        at = match.end()
    yield _cut_bare(text[at:], kinds)


def _cut_bare(text: str, kinds: frozenset[SecretKind]) -> str:
    cut = cut_text(text, kinds=kinds)
    for kind in {span.kind for span in cut.spans}:
        cut = Cut(cut.text.replace(mark(kind), f'"{mark(kind)}"'), cut.spans)
    return cut.text


def _cut_literal(literal: str, kinds: frozenset[SecretKind]) -> str:
    said = _said(literal)
    cut = cut_text(said, kinds=kinds)
    return _literal(cut.text) if cut.spans else literal


def _said(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return literal[1:-1]


def _literal(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return json.dumps(text, ensure_ascii=False)


@dataclass(slots=True)
class _Piece:
    """One literal of one frame, which is a piece of a longer text."""

    start: int
    end: int
    said: str


def _cut_across_frames(stream: str, kinds: frozenset[SecretKind]) -> str:
    texts: dict[tuple[str, int], list[_Piece]] = {}
    places = _Places()
    at = 0
    for line in stream.splitlines(keepends=True):
        # A frame of server-sent events, or one bare object to a line.
        if line.startswith(("data:", "{")):
            for name, place, match in _values(line, places):
                piece = _Piece(at + match.start(), at + match.end(), _said(match[0]))
                texts.setdefault((name, place), []).append(piece)
        at += len(line)
    changed = {piece.start: piece for pieces in texts.values() for piece in _changed(pieces, kinds)}
    parts: list[str] = []
    at = 0
    for start in sorted(changed):
        piece = changed[start]
        parts += [stream[at:start], _literal(piece.said)]
        at = piece.end
    return "".join([*parts, stream[at:]])


def _values(line: str, places: "_Places") -> Iterator[tuple[str, int, re.Match[str]]]:
    """Give each string that is a value, with the name it stands under and the place that its objects name.

    The place is told by every object around the string, as one frame may hold pieces of several texts.
    """
    found: list[tuple[str, _Object, re.Match[str]]] = []
    inside = _Object()
    objects = [inside]
    name = ""
    for match in _TOKEN.finditer(line):
        sign = match[0]
        if sign[0] == '"' and not match[1]:
            break
        if sign == "{":
            inside = _Object(inside)
            objects.append(inside)
        elif sign == "}":
            inside = inside.around or inside
        elif sign[0] == '"' and _KEY_AHEAD.match(line, match.end()):
            name = sign
        else:
            if name in _PLACES:
                inside.places.append(f"{name}{sign}")
            if sign[0] == '"':
                found.append((name, inside, match))
    places.number(objects)
    for name, where, match in found:
        yield name, where.place, match


@dataclass(slots=True)
class _Object:
    """One object of a frame, with what it says of where its texts belong."""

    around: "_Object | None" = None
    places: list[str] = field(default_factory=list)
    place: int = 0


class _Places:
    """Numbers for the places of texts: the same number where all objects around them say the same.

    A number stands for the place around it too, so that objects within objects without end cost no more
    than their length.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, tuple[str, ...]], int] = {}

    def number(self, objects: Iterable[_Object]) -> None:
        """Give each its number; those around others come first."""
        for one in objects:
            around = one.around.place if one.around else 0
            told = (around, tuple(one.places))
            one.place = self._numbers.setdefault(told, len(self._numbers) + 1) if one.places else around


def _changed(pieces: Sequence[_Piece], kinds: frozenset[SecretKind]) -> Iterator[_Piece]:
    """Cut the joined text; the mark stands where the secret begins, its rest goes from the later pieces."""
    joined = "".join(piece.said for piece in pieces)
    spans = find_secrets(joined, kinds=kinds)
    at = 0
    for piece in pieces if spans else ():
        kept: list[str] = []
        here, end = at, at + len(piece.said)
        for span in spans:
            if span.end <= here or span.start >= end:
                continue
            kept.append(joined[here : max(span.start, here)])
            if span.start >= at:
                quote = _quote_at(joined, span)
                kept.append(f"{quote}{mark(span.kind)}{quote}")
            here = min(span.end, end)
        kept.append(joined[here:end])
        said = "".join(kept)
        if said != piece.said:
            yield _Piece(piece.start, piece.end, said)
        at = end


_MARKS = {mark(kind): kind for kind in SecretKind}
_ANY_MARK = re.compile("|".join(re.escape(one) for one in _MARKS))


def marks_in(text: str) -> Iterator[Span]:
    """Return the marks that stand in a text which was cut, from left to right."""
    for match in _ANY_MARK.finditer(text):
        yield Span(_MARKS[match[0]], match.start(), match.end())
