"""A long JSON file cut into its elements without reading any of them whole into objects.

Yields each element's own bytes, so that what was received can be kept as it
came, and a damaged element costs only itself. Memory holds one element.
"""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Final, cast

from conversations.imports.trouble import UnreadableError

CHUNK_BYTES: Final = 1 << 20
# What reading from a damaged or cut archive raises.
DAMAGES: Final = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
# Larger single conversations are refused: one must fit in memory several times over.
MAX_ELEMENT_BYTES: Final = 48 << 20

# Everything up to the next bracket outside a string. Possessive: no backtracking on hostile input.
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_OUTSIDE = re.compile(rb'["{}\[\]]')
_IN_STRING = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"
_read_element = json.JSONDecoder().raw_decode
_SCALAR_END = re.compile(rb"[,\]}\s]")


class OversizeError(UnreadableError):
    """One element is too large to be held; the stream stands behind it."""

    def __init__(self) -> None:
        super().__init__(f"larger than {MAX_ELEMENT_BYTES >> 20} MiB")


def split_array(stream: IO[bytes]) -> Iterator[bytes | OversizeError]:
    """Yield the bytes of each element of the one array in the stream, or that one was too large to hold.

    Raises UnreadableError where the file ends inside an element or goes on after
    the array; what came before has been yielded by then.
    """
    window = _Window(stream)
    if window.next_byte() != b"[":
        raise UnreadableError("not a JSON array")
    window.skip(1)
    separator = window.next_byte()
    if separator == b"]":
        window.skip(1)
    while separator != b"]":
        yield window.try_value()
        separator = window.next_byte()
        if separator not in (b",", b"]"):
            what = "the file ends inside the list" if not separator else "no comma between two elements"
            raise UnreadableError(what)
        window.skip(1)
    if window.next_byte():
        raise UnreadableError("text after the end of the list")


def split_values(stream: IO[bytes]) -> Iterator[bytes | OversizeError]:
    """Yield the bytes of each top-level value, however they are spaced."""
    window = _Window(stream)
    while window.next_byte():
        yield window.try_value()


def split_lines(stream: IO[bytes]) -> Iterator[bytes | OversizeError]:
    """Yield each line without its end; only a line feed ends a line (a string may hold U+2028)."""
    while line := stream.readline(MAX_ELEMENT_BYTES + 1):
        if len(line) > MAX_ELEMENT_BYTES:
            while not line.endswith(b"\n") and (line := stream.readline(CHUNK_BYTES)):
                pass
            yield OversizeError()
        else:
            yield line.rstrip(b"\r\n")


class _Window:
    """The part of the stream that has been read and not yet taken."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = cast("io.BufferedIOBase", stream)
        self._damage: Exception | None = None
        self._bytes = b""
        # The same bytes, a character each; made when it is asked for.
        self._text: str | None = None
        self._position = 0

    def next_byte(self) -> bytes:
        """Give the next byte that is no white space; empty at the end."""
        while True:
            rest = self._bytes[self._position : self._position + 4096].lstrip(_SPACE)
            if rest:
                self._position = self._bytes.index(rest[:1], self._position)
                return rest[:1]
            self._position = min(self._position + 4096, len(self._bytes))
            if self._position == len(self._bytes) and not self._read_more():
                return b""

    def skip(self, count: int) -> None:
        self._position += count

    def try_value(self) -> bytes | OversizeError:
        try:
            value = self.take_value()
        except OversizeError as error:
            return error
        return OversizeError() if len(value) > MAX_ELEMENT_BYTES else value

    def take_value(self) -> bytes:
        """Take one whole value, bracket to bracket, or a bare scalar."""
        first = self.next_byte()
        if first in (b"{", b"["):
            end = self._end_of_whole() or self._end_of_brackets()
        elif first == b'"':
            end = self._end_of_string()
        else:
            end = self._end_of_scalar()
        value = self._bytes[self._position : end]
        self._position = end
        return value

    def _end_of_whole(self) -> int | None:
        """Find the end of an element that is sound and stands in the window whole; None of any other.

        The interpreter's own scanner is three times as fast as matching brackets. What it
        reads is let go: characters stand for bytes here, and numbers lose their spelling.
        """
        if self._text is None:
            self._text = self._bytes.decode("latin-1")
        try:
            return _read_element(self._text, self._position)[1]
        except (ValueError, RecursionError):
            return None

    def _end_of_brackets(self) -> int:
        depth, place = 0, self._position
        while True:
            if match := _TO_BRACKET.match(self._bytes, place):
                place = match.end()
            if place == len(self._bytes) or self._bytes[place] == 0x22:
                # The window ends here, or inside a string: read on from the same place.
                if len(self._bytes) - self._position > MAX_ELEMENT_BYTES:
                    self._position = place
                    self._skip_brackets(depth)
                    raise OversizeError
                place -= self._position
                if not self._read_more():
                    raise UnreadableError("the file ends inside an element")
                continue
            depth += 1 if self._bytes[place] in b"{[" else -1
            place += 1
            if depth == 0:
                return place

    def _skip_brackets(self, depth: int) -> None:
        """Go past the rest of an element too large to hold, letting it go as it is read."""
        in_string = False
        while depth:
            match = (_IN_STRING if in_string else _OUTSIDE).search(self._bytes, self._position)
            if match is None or (match.group() == b"\\" and match.end() == len(self._bytes)):
                self._position = len(self._bytes) if match is None else match.start()
                if not self._read_more():
                    raise UnreadableError("the file ends inside an element")
                continue
            mark = match.group()
            self._position = match.end() + (mark == b"\\")
            if mark == b'"':
                in_string = not in_string
            elif mark != b"\\":
                depth += 1 if mark in b"{[" else -1

    def _end_of_string(self) -> int:
        while True:
            match = _STRING.match(self._bytes, self._position)
            if match:
                return match.end()
            if len(self._bytes) - self._position > MAX_ELEMENT_BYTES or not self._read_more():
                raise UnreadableError("a string that does not end")

    def _end_of_scalar(self) -> int:
        while True:
            match = _SCALAR_END.search(self._bytes, self._position + 1)
            if match:
                return match.start()
            if not self._read_more():
                return len(self._bytes)

    def _read_more(self) -> bool:
        """Drop what was taken and read on, twice as much each time; False at the end of the stream."""
        kept = self._bytes[self._position :]
        more = self._read(max(CHUNK_BYTES, len(kept)))
        self._bytes, self._position = kept + more, 0
        self._text = None
        return bool(more)

    def _read(self, wanted: int) -> bytes:
        """Read so many bytes, or all that come before the end or a damage, which the next call raises."""
        if self._damage is not None:
            raise self._damage
        pieces: list[bytes] = []
        try:
            while wanted > 0 and (piece := self._stream.read1(wanted)):
                pieces.append(piece)
                wanted -= len(piece)
        except DAMAGES as error:
            if not pieces:
                raise
            self._damage = error
        return b"".join(pieces)
