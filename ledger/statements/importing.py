"""Taking in statements: a file of a known format, or a window of the processor's own lists.

All or nothing, in one transaction. The same content twice is one statement. A line that cannot
be read for certain is kept raw with its number and its trouble, and counted; it is never guessed.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import IntegrityError, transaction

from access.actors import Actor
from access.models import Realm
from conversations.errors import StoreError, constraint_of
from conversations.ids import mint_id
from ledger.models import Statement
from ledger.statements.cells import CellError
from ledger.statements.formats import format_of
from ledger.statements.lines import Format
from ledger.statements.records import Record, records
from ledger.statements.vocabulary import AmountStyle
from ledger.statements.writing import LineWriter

_BLOCK = 1024 * 1024
_LONGEST_LINE = 1024 * 1024


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
    header, found = _header(file, told)
    processor = found.processor or told.processor
    if not processor:
        raise StoreError(
            "processor-not-said", "this format does not say whose statement it is", place=told.name
        )
    known = Statement.objects.filter(realm=realm, processor=processor, sha256=digest).first()
    if known is not None:
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
            _write_lines(writer, file, found, header, zone)
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


def _write_lines(
    writer: LineWriter, file: BinaryIO, found: Format, header: list[str], zone: ZoneInfo
) -> None:
    is_first = True
    for record in records(_lines(file)):
        if is_first:
            is_first = False
            continue
        _write_line(writer, record, found, header, zone)
    writer.close()


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
        raise StoreError("nothing-read", f"none of the {writer.count} lines could be read", place=told.name)
    statement.line_count, statement.skipped_count = writer.count, writer.skipped
    statement.period_start = told.period_start or writer.first
    statement.period_end = told.period_end or writer.last + timedelta(seconds=1)
    if statement.period_end <= statement.period_start:
        raise StoreError("period-ends-early", "the period ends before it begins", place=told.name)
    statement.save(force_insert=True)


def _header(file: BinaryIO, told: Told) -> tuple[list[str], Format]:
    first = next(records(_lines(file)), None)
    header = first.cells if first is not None else None
    if header is None:
        raise StoreError("no-header", "the first line is no header that can be read", place=told.name)
    found = format_of(header)
    if found is None:
        raise StoreError(
            "format-unknown", "the header is that of no statement we know", place=f"{told.name}, line 1"
        )
    if len(set(header)) != len(header):
        raise StoreError("column-repeated", "two columns have one name", place=f"{told.name}, line 1")
    return header, found


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Physical lines from the beginning, the longest cut: a file without line ends is no statement."""
    file.seek(0)
    while line := file.readline(_LONGEST_LINE):
        yield line


def _digest(file: BinaryIO) -> tuple[bytes, int]:
    file.seek(0)
    digest, size = hashlib.sha256(), 0
    while block := file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return digest.digest(), size


def _zone(name: str) -> ZoneInfo:
    with suppress(ZoneInfoNotFoundError, ValueError):
        return ZoneInfo(name)
    raise StoreError("zone-unknown", f"“{name[:64]}” is no time zone; write one like Europe/Paris")
