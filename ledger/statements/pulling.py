"""The processor's own lists between two moments, kept as a statement like any other.

The lists are read to their end before anything is written: a processor that stops answering
half way leaves no half statement.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from datetime import datetime
from typing import IO, Any
from uuid import UUID

import orjson
from django.db import IntegrityError, transaction

from access.actors import Actor
from access.models import Realm
from conversations.errors import StoreError, constraint_of
from conversations.ids import mint_id
from ledger.evidence import Movement
from ledger.models import Statement
from ledger.processors import adapter_for
from ledger.services.sending import refuse_inside_transaction
from ledger.statements.importing import Imported
from ledger.statements.lines import Said
from ledger.statements.vocabulary import AmountStyle, LineKind, LineStatus, StatementFormat
from ledger.statements.writing import LineWriter

_KINDS = {"charge": LineKind.CHARGE, "refund": LineKind.REFUND, "dispute": LineKind.DISPUTE}
_SIGNS = {LineKind.CHARGE: 1, LineKind.REFUND: -1, LineKind.DISPUTE: -1}
_STATUSES = {
    "pending": LineStatus.PENDING,
    "requires_action": LineStatus.PENDING,
    "failed": LineStatus.FAILED,
    "canceled": LineStatus.FAILED,
    # A dispute that was won took nothing in the end; an inquiry takes nothing yet.
    "won": LineStatus.FAILED,
    "prevented": LineStatus.FAILED,
    "warning_closed": LineStatus.FAILED,
    "warning_needs_response": LineStatus.PENDING,
    "warning_under_review": LineStatus.PENDING,
}


def pull_statement(
    *, realm: Realm, processor: str, since: datetime, until: datetime, actor: Actor, now: datetime
) -> Imported:
    """Keep what the processor lists from `since` to `until`, which is not included.

    Must not run inside a transaction. Safe to repeat: the same answers are one statement.
    Raises ProcessorUnreachableError, and StoreError where the processor is not configured.
    """
    refuse_inside_transaction()
    adapter = adapter_for(processor)
    if adapter is None:
        raise StoreError("processor-not-configured", f"{processor} has no key to be asked with")
    with tempfile.TemporaryFile() as spool:
        digest, size = _spool(spool, adapter.movements(since=since, until=until), since, until)
        known = Statement.objects.filter(realm=realm, processor=processor, sha256=digest).first()
        if known is not None:
            return Imported(known, is_new=False)
        statement = Statement(
            id=mint_id(now),
            realm=realm,
            processor=processor,
            format=StatementFormat.API,
            name=f"Movements by API, {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M}",
            sha256=digest,
            size=size,
            period_start=since,
            period_end=until,
            zone="UTC",
            amount_style=AmountStyle.MINOR,
            lists_refunds=True,
            skipped_count=0,
            imported_at=now,
            imported_by_kind=actor.kind,
            imported_by_id=actor.id,
        )
        return _write(statement, spool, now)


def _write(statement: Statement, spool: IO[bytes], now: datetime) -> Imported:
    try:
        with transaction.atomic():
            writer = LineWriter(statement.id, now)
            for number, raw in enumerate(_lines(spool), 1):
                writer.add(number, raw, _said(orjson.loads(raw)))
            writer.close()
            statement.line_count = writer.count
            statement.save(force_insert=True)
    except IntegrityError as error:
        if constraint_of(error) != "ledger_statement_content_once_per_realm":
            raise
        same = Statement.objects.filter(realm_id=statement.realm_id, processor=statement.processor)
        return Imported(same.get(sha256=bytes(statement.sha256)), is_new=False)
    return Imported(statement, is_new=True)


def _spool(
    spool: IO[bytes], movements: Iterator[Movement], since: datetime, until: datetime
) -> tuple[bytes, int]:
    """Write one line for each movement; the digest is over the window and all lines, in the lists' order."""
    digest, size = hashlib.sha256(f"{since.isoformat()} {until.isoformat()}\n".encode()), 0
    for movement in movements:
        line = orjson.dumps(movement, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)
        digest.update(line)
        size += spool.write(line)
    return digest.digest(), size


def _lines(spool: IO[bytes]) -> Iterator[bytes]:
    spool.seek(0)
    yield from spool


def _said(movement: dict[str, Any]) -> Said:
    kind = _KINDS.get(movement["kind"], LineKind.OTHER)
    return Said(
        kind=kind,
        said_kind=f"{movement['kind']} {movement['status']}"[:64],
        status=_STATUSES.get(movement["status"], LineStatus.DONE),
        reference=movement["reference"],
        charge_ref=movement["charge_ref"],
        intent_ref=movement["intent_ref"],
        amount_minor=movement["amount_minor"] * _SIGNS.get(kind, 1),
        currency=movement["currency"],
        occurred_at=datetime.fromisoformat(movement["occurred_at"]),
        effect_mark=_id(movement["effect_id"]),
        compensation_mark=_id(movement["compensation_id"]),
    )


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
