"""From a file to the records in it: plain, gzipped, or any number of files in a zip.

A `Document` is one JSON or CSV text; opening it twice gives the same bytes, so
a format may be judged by the first records and then read from the start.
"""

import gzip
import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, Literal, cast

from conversations.imports import exact_json
from conversations.imports.splitting import DAMAGES, OversizeError, split_array, split_lines, split_values
from conversations.imports.table_rows import is_table, rows_of
from conversations.imports.trouble import DamagedFileError, RefusedFileError, UnreadableError

Shape = Literal["array", "values", "lines", "csv"]

HEAD_BYTES: Final = 1 << 20
# A session may begin with dozens of summaries and snapshots before anybody speaks.
SAMPLE_RECORDS: Final = 500
SAMPLE_BYTES: Final = 2 << 20
_TEXT_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".traj"})
# An archive, and one without anything in it.
_ZIPS: Final = frozenset({b"PK\x03\x04", b"PK\x05\x06"})
_BOM = b"\xef\xbb\xbf"
# A zip member that claims more than this is refused before it is opened.
MAX_MEMBER_BYTES: Final = 64 << 30
_HEAD_PIECE: Final = 1 << 13
# What a gzipped file is counted up to for its progress: two seconds of reading.
MAX_COUNTED_BYTES: Final = 512 << 20
_COUNTED_PIECE: Final = 1 << 18


class Record:
    """One element, line or row, read when first asked for. `trouble` says why `value` could not be read."""

    __slots__ = ("_is_read", "_repeated", "_trouble", "_value", "place", "raw")

    def __init__(self, place: str, raw: bytes, *, trouble: str = "") -> None:
        self.place = place
        self.raw = raw
        self._is_read = bool(trouble)
        self._value: object = None
        self._repeated = 0
        self._trouble = trouble

    @classmethod
    def of(cls, place: str, raw: bytes, value: object) -> "Record":
        """A record whose value is known without reading its bytes."""
        record = cls(place, raw)
        record._value, record._is_read = value, True
        return record

    @property
    def value(self) -> object:
        self._read()
        return self._value

    @property
    def repeated_members(self) -> int:
        """How many members, once it is read, have a later one of the same key in their object."""
        return self._repeated

    @property
    def trouble(self) -> str:
        self._read()
        return self._trouble

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        try:
            self._value, self._repeated = exact_json.load_noting(self.raw)
        except ValueError as error:
            self._trouble = str(error)


@dataclass(slots=True)
class Document:
    """One text that may hold conversations; `beside` names what lies in the same archive.

    `shared` is one for all texts of an archive: what a reader learns of one and needs for the next.
    """

    name: str
    open: Callable[[], IO[bytes]]
    beside: frozenset[str] = field(default=frozenset())
    shared: dict[str, Any] = field(default_factory=dict)
    _shape: Shape | None = None

    @property
    def shape(self) -> Shape:
        """How its records are laid out; RefusedFileError where it cannot be read at all."""
        if self._shape is None:
            try:
                with _without_bom(self.open()) as stream:
                    self._shape = shape_of(_read_head(stream), name=self.name)
            except DAMAGES as error:
                raise DamagedFileError(f"a damaged archive ({error})") from None
        return self._shape

    def records(self) -> Iterator[Record]:
        """Yield every record; a damaged one says so, and what a file's end cuts off is one as well."""
        shape = self.shape
        with _without_bom(self.open()) as stream:
            yield from _records_of(stream, shape)

    def sample(self) -> list[Record]:
        """Give the first few records, to judge the format by."""
        first: list[Record] = []
        size = 0
        for record in self.records():
            first.append(record)
            size += len(record.raw)
            if len(first) == SAMPLE_RECORDS or size > SAMPLE_BYTES:
                break
        return first


def open_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a file; RefusedFileError where it is none that can hold any."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic in _ZIPS:
        yield from _zip_members(path)
    elif magic[:2] == b"\x1f\x8b":
        yield Document(name=path.name, open=lambda: _open_gzip(path))
    else:
        yield Document(name=path.name, open=lambda: path.open("rb"))


def text_bytes(path: Path) -> int | None:
    """Return how many bytes of text a file holds; None where finding out would take too long.

    A zip says it. A gzipped file does not: it is read through, as far as it can be and no further
    than a few seconds take.
    """
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == b"\x1f\x8b":
        return _gzipped_bytes(path)
    if magic not in _ZIPS:
        return path.stat().st_size
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [member.file_size for member in archive.infolist() if _may_be_text(member)]
    except zipfile.BadZipFile:
        return None
    return sum(sizes) if max(sizes, default=0) <= MAX_MEMBER_BYTES else None


def _gzipped_bytes(path: Path) -> int | None:
    size = 0
    try:
        with gzip.GzipFile(path, "rb") as stream:
            while piece := stream.read1(_COUNTED_PIECE):
                size += len(piece)
                if size > MAX_COUNTED_BYTES:
                    return None
    except DAMAGES:
        # What can be read before the damage is what will be read.
        pass
    return size


def _may_be_text(member: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(member.filename)
    # What macOS puts beside each file of an archive is named like it, and is no text.
    is_beside = path.name.startswith("._") or "__MACOSX" in path.parts
    return not member.is_dir() and not is_beside and path.suffix.lower() in _TEXT_SUFFIXES


def _open_gzip(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.GzipFile(path, "rb"))


def _zip_members(path: Path) -> Iterator[Document]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise RefusedFileError(f"a damaged zip archive ({error})") from None
    names = frozenset(member.filename for member in members)
    shared: dict[str, Any] = {}
    for member in sorted(members, key=lambda one: one.filename):
        if not _may_be_text(member):
            continue
        if member.flag_bits & 0x1:
            raise RefusedFileError("an encrypted zip archive")
        if member.file_size > MAX_MEMBER_BYTES:
            raise RefusedFileError(f"an archive whose member {member.filename} is larger than 64 GiB")
        name, opener = f"{path.name}/{member.filename}", _member_opener(path, member)
        yield Document(name=name, open=opener, beside=names, shared=shared)


def _member_opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def open_member() -> IO[bytes]:
        archive = zipfile.ZipFile(path)
        # The archive is closed with the last stream that was opened from it.
        return archive.open(member)

    return open_member


def _read_head(stream: IO[bytes]) -> bytes:
    """Read a text's beginning, as far as a damaged archive gives it."""
    pieces: list[bytes] = []
    size = 0
    # One step of the archive's at a time: a longer read that meets the damage gives nothing at all.
    stepwise = cast("io.BufferedIOBase", stream)
    try:
        while size < HEAD_BYTES and (piece := stepwise.read1(_HEAD_PIECE)):
            pieces.append(piece)
            size += len(piece)
    except DAMAGES as error:
        if not pieces:
            raise DamagedFileError(f"a damaged archive ({error})") from None
    return b"".join(pieces)


def shape_of(head: bytes, *, name: str) -> Shape:
    """Tell how a text's records are laid out from its beginning."""
    text = head.lstrip()
    if text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DamagedFileError("UTF-16 text; save it as UTF-8 and try again")
    if text[:1] not in (b"{", b"["):
        suffix = PurePosixPath(name.removesuffix(".gz")).suffix.lower()
        return "csv" if suffix in (".csv", ".tsv") or is_table(text) else "lines"
    first, line_end, rest = text.partition(b"\n")
    if not line_end or not rest.strip():
        return "array" if text[:1] == b"[" and not _holds_messages(first) else "values"
    try:
        exact_json.load(first.strip())
    except ValueError:
        return "array" if text[:1] == b"[" else "values"
    return "lines"


def _holds_messages(line: bytes) -> bool:
    """Whether a file's only line is a list of lists: lines that happen to be one."""
    return line.removeprefix(b"[").lstrip()[:1] == b"["


@contextmanager
def _without_bom(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    with stream:
        start = stream.read(len(_BOM))
        if start != _BOM:
            stream.seek(0)
        yield stream


def _records_of(stream: IO[bytes], shape: Shape) -> Iterator[Record]:
    if shape == "csv":
        for row in rows_of(stream):
            if row.trouble:
                yield Record(row.place, row.raw, trouble=row.trouble)
            else:
                yield Record.of(row.place, row.raw, row.cells)
        return
    split = {"array": split_array, "values": split_values, "lines": split_lines}[shape]
    word = "line" if shape == "lines" else "item"
    number = 0
    try:
        for number, raw in enumerate(split(stream), start=1):
            if isinstance(raw, OversizeError):
                yield Record(f"{word} {number}", b"", trouble=raw.reason)
            elif raw.strip():
                yield Record(f"{word} {number}", raw)
    except UnreadableError as trouble:
        yield Record(f"after {word} {number}", b"", trouble=trouble.reason)
    except DAMAGES as error:
        yield Record(f"after {word} {number}", b"", trouble=f"the archive is damaged: {error}")
