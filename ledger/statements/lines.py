"""One line of a statement in the ledger's words, whatever format it came in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from ledger.statements.vocabulary import AmountStyle, LineKind, LineStatus, StatementFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a line says. `amount_minor` has the sign that it has for the merchant."""

    kind: LineKind
    said_kind: str
    reference: str
    amount_minor: int
    currency: str
    occurred_at: datetime
    status: LineStatus = LineStatus.DONE
    movement_ref: str = ""
    charge_ref: str = ""
    intent_ref: str = ""
    customer_ref: str = ""
    refunded_minor: int | None = None
    fee_minor: int | None = None
    effect_mark: UUID | None = None
    key_mark: str = ""
    compensation_mark: UUID | None = None


class Format(Protocol):
    """One format: whether a header is its own, and what a row of it says. Reads no database."""

    name: StatementFormat
    processor: str
    amount_style: AmountStyle
    lists_refunds: bool

    def is_header(self, header: list[str]) -> bool: ...

    def read(self, cells: dict[str, str], zone: ZoneInfo) -> Said:
        """Read a row; CellError where a cell cannot be read for certain."""
