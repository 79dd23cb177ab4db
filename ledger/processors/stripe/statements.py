"""Stripe's statement exports, read line by line: three families of columns, told apart by their header.

Amounts there are decimals of the major unit, while the API has integers of the smallest: the
two never share a parser. A byte order mark, older column names and dates of a dashboard's locale
are taken; a line that cannot be read is given with its trouble, never dropped.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from uuid import UUID

from conversations.currency import AmountError, minor_units
from ledger.evidence import EFFECT_METADATA
from ledger.processors.protocol import StatementLine

_ISO = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M")
_LOCAL = (
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
)
# Column → the names it has had.
_COLUMNS = {
    "reference": ("balance_transaction_id", "id"),
    "source": ("source_id", "Source"),
    "kind": ("reporting_category", "Type", "Status"),
    "amount": ("gross", "Amount"),
    "refunded": ("Amount Refunded",),
    "fee": ("fee", "Fee"),
    "currency": ("currency", "Currency"),
    "created": ("created_utc", "Created (UTC)", "Created date (UTC)", "created"),
    "charge": ("charge_id",),
    "intent": ("payment_intent_id", "PaymentIntent ID"),
}
_METADATA = frozenset(
    {
        f"payment_metadata[{EFFECT_METADATA}]",
        f"refund_metadata[{EFFECT_METADATA}]",
        f"{EFFECT_METADATA} (metadata)",
    }
)


def read_statement(lines: Iterable[str]) -> Iterator[StatementLine]:
    """Give each line of an export; ValueError where the header is of no export that we know."""
    reader = csv.reader(_without_mark(lines))
    header = next(reader, [])
    if not ({"id", "balance_transaction_id"} & set(header)) or not _has(header, "amount"):
        raise ValueError("the header is that of no Stripe export: no id, or no amount")
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        yield _line(reader.line_num, header, row)


def _without_mark(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield line.removeprefix("\ufeff") if number == 0 else line


def _has(header: list[str], column: str) -> bool:
    return any(name in header for name in _COLUMNS[column])


def _line(number: int, header: list[str], row: list[str]) -> StatementLine:
    raw = ",".join(row)
    if len(row) != len(header):
        trouble = f"{len(row)} cells under {len(header)} columns"
        return StatementLine(number=number, trouble=trouble, raw=raw)
    cells = dict(zip(header, row, strict=True))
    currency = _cell(cells, "currency").lower()
    try:
        return StatementLine(
            number=number,
            kind=_cell(cells, "kind"),
            reference=_cell(cells, "source") or _cell(cells, "reference"),
            charge_ref=_cell(cells, "charge"),
            intent_ref=_cell(cells, "intent"),
            amount_minor=_amount(_cell(cells, "amount"), currency),
            refunded_minor=_amount(_cell(cells, "refunded"), currency),
            fee_minor=_amount(_cell(cells, "fee"), currency),
            currency=currency,
            occurred_at=_moment(_cell(cells, "created")),
            effect_id=_effect_id(cells),
            raw=raw,
        )
    except (AmountError, ValueError) as error:
        return StatementLine(number=number, trouble=str(error), raw=raw, currency=currency)


def _cell(cells: Mapping[str, str], column: str) -> str:
    return next((cells[name].strip() for name in _COLUMNS[column] if name in cells), "")


def _amount(text: str, currency: str) -> int | None:
    if not text:
        return None
    return minor_units(text.replace(",", "") if "." in text else text, currency)


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    for form in (*_ISO, *_LOCAL):
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"“{text[:40]}” is no date that a Stripe export writes")


def _effect_id(cells: Mapping[str, str]) -> UUID | None:
    for name, value in cells.items():
        if value and name in _METADATA:
            try:
                return UUID(value)
            except ValueError:
                return None
    return None
