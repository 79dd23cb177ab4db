"""Records put aside on disk by key and read back key by key.

Tables and session files interleave their conversations. Memory holds places,
not records; the file has no name in the file system and vanishes with the
process.
"""

import tempfile
from array import array
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Self


def _nameless_file() -> IO[bytes]:
    return tempfile.TemporaryFile(buffering=1 << 20)


class Spool:
    """Keeps the order in which keys were first seen, and of the records below each key."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._file = self._stack.enter_context(_nameless_file())
        self._offsets: dict[str, array[int]] = {}
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def put(self, key: str, place: str, raw: bytes) -> None:
        head = place.encode("utf-8", "surrogatepass")
        offsets = self._offsets.get(key)
        if offsets is None:
            offsets = self._offsets[key] = array("q")
        offsets.append(self._end)
        entry = len(head).to_bytes(4) + len(raw).to_bytes(8) + head + raw
        self._file.write(entry)
        self._end += len(entry)

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def read(self, key: str) -> Iterator[tuple[str, bytes]]:
        for offset in self._offsets[key]:
            if self._file.tell() != offset:
                self._file.seek(offset)
            head_size = int.from_bytes(self._file.read(4))
            raw_size = int.from_bytes(self._file.read(8))
            head = self._file.read(head_size).decode("utf-8", "surrogatepass")
            yield head, self._file.read(raw_size)
