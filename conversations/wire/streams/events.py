"""Server-sent events out of bytes that come in any pieces, whole or cut off."""

import codecs
from collections.abc import Iterator
from typing import NamedTuple

BYTE_ORDER_MARK = "\ufeff"
DONE = "[DONE]"
_FIELDS = (b"event:", b"data:", b"id:", b"retry:", b":")
_LONGEST_START = 4096


class Event(NamedTuple):
    """One event. `is_cut` says that the stream ended before the blank line that closes it."""

    name: str
    data: str
    is_cut: bool = False


def plain_error(event: Event) -> str | None:
    """The words of an error event that are no JSON, as gateways send them; None for any other event."""
    return event.data if event.name == "error" and not event.is_cut else None


class EventReader:
    """Turns chunks of bytes into events.

    Takes any line ending, comments, data over several lines, characters split
    between chunks, a byte order mark, and also bare JSON objects one to a line,
    as some recorders write streams down.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._name = ""
        self._data: list[str] = []
        self._has_begun = False

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Give the events that `chunk` completes."""
        self._rest += self._decode(chunk)
        if not self._has_begun and self._rest:
            self._has_begun = True
            self._rest = self._rest.removeprefix(BYTE_ORDER_MARK)
        # A carriage return at the end may be the first half of a line ending.
        held = "\r" if self._rest.endswith("\r") else ""
        text = self._rest[: len(self._rest) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
        *lines, last = text.split("\n")
        self._rest = last + held
        for line in lines:
            yield from self._take(line)

    def close(self) -> Iterator[Event]:
        """Give what was begun when the stream ended."""
        self._rest += self._decode(b"", final=True)
        for line in self._rest.replace("\r", "\n").split("\n"):
            yield from self._take(line)
        self._rest = ""
        yield from self._dispatch(is_cut=True)

    def _take(self, line: str) -> Iterator[Event]:
        if not line:
            yield from self._dispatch(is_cut=False)
        elif line.startswith("{"):
            yield from self._dispatch(is_cut=False)
            yield Event("", line)
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "event":
                self._name = value
            elif field == "data":
                self._data.append(value)

    def _dispatch(self, *, is_cut: bool) -> Iterator[Event]:
        if self._data:
            yield Event(self._name, "\n".join(self._data), is_cut)
        self._name = ""
        self._data = []


def read_events(body: bytes) -> Iterator[Event]:
    """Give the events of a whole recorded stream."""
    reader = EventReader()
    yield from reader.feed(body)
    yield from reader.close()


def is_event_stream(body: bytes) -> bool:
    """Whether a recorded answer is an event stream: server-sent events, or one JSON object to a line."""
    start = body[:_LONGEST_START].removeprefix(codecs.BOM_UTF8).lstrip()
    if start.startswith(_FIELDS):
        return True
    if not start.startswith(b"{"):
        return False
    first, line_end, rest = body.removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")
    is_whole_object = first.rstrip().endswith(b"}")
    if line_end and rest.lstrip().startswith(b"{"):
        return is_whole_object
    return is_whole_object and first.startswith((b'{"type":"message_start"', b'{"type":"response.'))
