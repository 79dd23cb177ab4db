"""Files of recorded traffic, line by line: memory holds one line, however long the file is."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Final, cast

# The store takes an exchange of 64 MiB, in which text has quotation marks escaped.
LONGEST: Final = 96 << 20
_PIECE: Final = 1 << 18
_HEAD: Final = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """Behind which line of a file: its number and where it ends, of the unpacked bytes."""

    number: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """`behind` is where to go on once it is settled. `raw` is None where it is too long to be held."""

    number: int
    behind: Place
    raw: bytes | None


def read_lines(path: Path, *, after: Place) -> Iterator[Line]:
    """Yield the lines behind a place, empty ones too; only a line feed ends a line.

    A last line without one may still be written to: it is read again when the file is gone on with.
    """
    with _open(path) as file:
        file.seek(after.offset)
        place = after
        while raw := file.readline(LONGEST + 1):
            size, is_whole = len(raw), len(raw) <= LONGEST
            last = raw
            while not last.endswith(b"\n") and (last := file.readline(_PIECE)):
                size += len(last)
            number = place.number + 1
            if last:
                place = Place(number, place.offset + size)
            yield Line(number, place, raw.rstrip(b"\r\n") if is_whole else None)


def head_digest(path: Path, *, most: int) -> str:
    """Return a digest of how the file begins, at most `most` bytes of it: a file that grew keeps it."""
    with _open(path) as file:
        return sha256(file.read(min(most, _HEAD))).hexdigest()


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if is_packed else path.open("rb")
