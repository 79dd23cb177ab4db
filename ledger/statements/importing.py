"""Taking in statements: a file of a known format, or a window of the processor's own lists.

All or nothing, in one transaction. The same content twice is one statement. A line that cannot
be read for certain is kept raw with its number and its trouble, and counted; it is never guessed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import BinaryIO
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction

from access.actors import Actor
from access.models import Realm
from conversations.errors import StoreError, constraint_of
from conversations.ids import mint_id
from ledger.models import Statement
from ledger.statements.cells import CellError, zone_of
from ledger.statements.formats import format_of
from ledger.statements.lines import Format
from ledger.statements.records import Record, records
from ledger.statements.vocabulary import AmountStyle
from ledger.statements.writing import LineWriter

_BLOCK = 1024 * 1024
_LONGEST_LINE = 1024 * 1024
# A spreadsheet parts cells by what its country does not part decimals by.
_DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True, slots=True)
class Imported:
    statement: Statement
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the one who hands a file over says of it; what is not said is read from its lines."""

    name: str
    processor: str = ""
    zone: str = "UTC"
    period_start: datetime | None = None
    period_end: datetime | None = None


def import_statement(*, realm: Realm, file: BinaryIO, told: Told, actor: Actor, now: datetime) -> Imported:
    """Read a file from its beginning and write its lines; the statement of before, if it is known.

    `file` must be seekable. Raises StoreError where the format is not known, or nothing could
    be read.
    """
    digest, size = _digest(file)
    zone = _zone(told.zone)
    header, found, delimiter = _header(file, told)
    processor = found.processor or told.processor
    if not processor:
        raise StoreError(
            "processor-not-said", "this format does not say whose statement it is", place=told.name
        )
    known = Statement.objects.filter(realm=realm, processor=processor, sha256=digest).first()
    if known is not None:
        _check_read_alike(known, told, zone)
        return Imported(known, is_new=False)
    statement = Statement(
        id=mint_id(now),
        realm=realm,
        processor=processor,
        format=found.name,
        name=told.name[:255],
        sha256=digest,
        size=size,
        zone=zone.key,
        amount_style=AmountStyle.MINOR if "amount_minor" in header else found.amount_style,
        lists_refunds=found.lists_refunds,
        header=",".join(header)[:10_000],
        imported_at=now,
        imported_by_kind=actor.kind,
        imported_by_id=actor.id,
    )
    try:
        with transaction.atomic():
            writer = LineWriter(statement.id, now)
            for record in islice(records(_lines(file), delimiter=delimiter), 1, None):
                _write_line(writer, record, found, header, zone)
            writer.close()
            _save(statement, writer, told)
    except IntegrityError as error:
        return _found_by_another(statement, error)
    return Imported(statement, is_new=True)


def _found_by_another(mine: Statement, error: IntegrityError) -> Imported:
    """Of two imports of one content at once, the second gives the first's statement."""
    if constraint_of(error) != "ledger_statement_content_once_per_realm":
        raise error
    same = Statement.objects.filter(realm_id=mine.realm_id, processor=mine.processor)
    return Imported(same.get(sha256=bytes(mine.sha256)), is_new=False)


def _check_read_alike(known: Statement, told: Told, zone: ZoneInfo) -> None:
    """What is said of a content only counts the first time: who says otherwise now has to hear of it."""
    period = told.period_start or known.period_start, told.period_end or known.period_end
    if zone.key == known.zone and period == (known.period_start, known.period_end):
        return
    since, until = (f"{moment:%Y-%m-%d %H:%M}" for moment in (known.period_start, known.period_end))
    raise StoreError(
        "imported-otherwise",
        f"this content was imported before, with dates in {known.zone}, for {since} to {until} UTC; "
        "with an empty line more at its end it is another content, and of two statements that speak of "
        "one movement the later counts",
        place=f"statement {known.pk}",
    )


def _write_line(writer: LineWriter, record: Record, found: Format, header: list[str], zone: ZoneInfo) -> None:
    if record.cells is None:
        writer.add_trouble(record.number, record.raw, record.trouble)
        return
    if len(record.cells) != len(header):
        trouble = f"{len(record.cells)} cells under {len(header)} columns"
        writer.add_trouble(record.number, record.raw, trouble)
        return
    try:
        said = found.read(dict(zip(header, record.cells, strict=True)), zone)
    except CellError as error:
        writer.add_trouble(record.number, record.raw, str(error))
        return
    writer.add(record.number, record.raw, said)


def _save(statement: Statement, writer: LineWriter, told: Told) -> None:
    if writer.first is None or writer.last is None:
        because = f": {writer.first_trouble}" if writer.first_trouble else ""
        raise StoreError(
            "nothing-read", f"none of the {writer.count} lines could be read{because}", place=told.name
        )
    statement.line_count, statement.skipped_count = writer.count, writer.skipped
    statement.period_start = told.period_start or writer.first
    statement.period_end = told.period_end or writer.last + timedelta(seconds=1)
    if statement.period_end <= statement.period_start:
        raise StoreError("period-ends-early", "the period ends before it begins", place=told.name)
    statement.save(force_insert=True)


def _header(file: BinaryIO, told: Told) -> tuple[list[str], Format, str]:
    """Return the names of the columns, the format, and what parts the cells."""
    is_read = False
    for delimiter in _DELIMITERS:
        first = next(records(_lines(file), delimiter=delimiter), None)
        header = first.cells if first is not None else None
        if header is None:
            continue
        is_read = True
        found = format_of(header)
        if found is not None:
            named = [name for name in header if name]
            if len(set(named)) != len(named):
                raise StoreError("column-repeated", "two columns have one name", place=f"{told.name}, line 1")
            return header, found, delimiter
    if not is_read:
        raise StoreError("no-header", "the first line is no header that can be read", place=told.name)
    raise StoreError(
        "format-unknown", "the header is that of no statement we know", place=f"{told.name}, line 1"
    )


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Physical lines from the beginning, the longest cut: a file without line ends is no statement."""
    file.seek(0)
    while line := file.readline(_LONGEST_LINE):
        yield line
        while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            line = file.readline(_LONGEST_LINE)


def _digest(file: BinaryIO) -> tuple[bytes, int]:
    file.seek(0)
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return digest.digest(), size


def _zone(name: str) -> ZoneInfo:
    zone = zone_of(name)
    if zone is None:
        raise StoreError("zone-unknown", f"“{name[:64]}” is no time zone; write one like Europe/Paris")
    return zone
