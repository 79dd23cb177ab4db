"""Lines of a statement on their way into the table, with the raw bytes they were read from.

Lines are written in thousands; their bytes go with them as one compressed raw body, in which
each line knows its place. Nothing grows with the length of the file.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import RawClass
from ledger.copying import copy_rows
from ledger.statements.lines import Said
from ledger.statements.vocabulary import LineKind, LineStatus

_AT_ONCE = 2000
_BYTES_AT_ONCE = 1024 * 1024
_COLUMNS = (
    "statement_id",
    "number",
    "raw_id",
    "raw_offset",
    "raw_size",
    "kind",
    "status",
    "said_kind",
    "reference",
    "movement_ref",
    "charge_ref",
    "intent_ref",
    "customer_ref",
    "amount_minor",
    "refunded_minor",
    "fee_minor",
    "currency",
    "occurred_at",
    "effect_mark",
    "key_mark",
    "compensation_mark",
    "trouble",
)
_LONGEST = 255


@dataclass(slots=True)
class LineWriter:
    """Takes lines one by one; `close` writes the rest. Counts, and knows the first and last moment."""

    statement_id: UUID
    now: datetime
    count: int = 0
    skipped: int = 0
    first_trouble: str = ""
    first: datetime | None = None
    last: datetime | None = None
    _held: list[tuple[Any, ...]] = field(default_factory=list)
    _raw: bytearray = field(default_factory=bytearray)

    def add(self, number: int, raw: bytes, said: Said) -> None:
        self.first = min(self.first or said.occurred_at, said.occurred_at)
        self.last = max(self.last or said.occurred_at, said.occurred_at)
        self._hold(number, raw, _columns(said))

    def add_trouble(self, number: int, raw: bytes, trouble: str) -> None:
        self.skipped += 1
        self.first_trouble = self.first_trouble or f"line {number}: {trouble}"
        self._hold(number, raw, _columns_of_trouble(trouble))

    def close(self) -> None:
        if not self._held:
            return
        raw_id = keep_raw_body(body=bytes(self._raw), raw_class=RawClass.STATEMENT_LINE, now=self.now)
        copy_rows(
            "ledger_statementline",
            _COLUMNS,
            ((self.statement_id, number, raw_id, *rest) for number, *rest in self._held),
        )
        self._held.clear()
        self._raw.clear()

    def _hold(self, number: int, raw: bytes, columns: tuple[Any, ...]) -> None:
        self.count += 1
        self._held.append((number, len(self._raw), len(raw), *columns))
        self._raw += raw
        if len(self._held) >= _AT_ONCE or len(self._raw) >= _BYTES_AT_ONCE:
            self.close()


def _columns(said: Said) -> tuple[Any, ...]:
    return (
        said.kind.value,
        said.status.value,
        said.said_kind[:64],
        said.reference[:_LONGEST],
        said.movement_ref[:_LONGEST],
        said.charge_ref[:_LONGEST],
        said.intent_ref[:_LONGEST],
        said.customer_ref[:_LONGEST],
        said.amount_minor,
        said.refunded_minor,
        said.fee_minor,
        said.currency,
        said.occurred_at,
        said.effect_mark,
        said.key_mark[:_LONGEST],
        said.compensation_mark,
        "",
    )


def _columns_of_trouble(trouble: str) -> tuple[Any, ...]:
    words = ("",) * 6
    return (
        LineKind.OTHER.value,
        LineStatus.FAILED.value,
        *words,
        None,
        None,
        None,
        "",
        None,
        None,
        "",
        None,
        trouble[:_LONGEST],
    )
