"""Stripe's payments export: one row for each payment, its refunds summed up and unnamed.

"All columns" adds the intent, disputes and metadata; older files name the date differently.
"""

from zoneinfo import ZoneInfo

from ledger.evidence import EFFECT_METADATA, KEY_METADATA
from ledger.processors import STRIPE
from ledger.statements import cells
from ledger.statements.cells import CellError
from ledger.statements.lines import Said
from ledger.statements.vocabulary import AmountStyle, LineKind, LineStatus, StatementFormat

_DATES = ("Created date (UTC)", "Created (UTC)")
_MOVED_NOTHING = {
    "Failed": LineStatus.FAILED,
    "Canceled": LineStatus.FAILED,
    "Uncaptured": LineStatus.PENDING,
    "Pending": LineStatus.PENDING,
    "Incomplete": LineStatus.PENDING,
    "Requires action": LineStatus.PENDING,
}


class StripePaymentsExport:
    name = StatementFormat.STRIPE_PAYMENTS
    processor = STRIPE
    amount_style = AmountStyle.MAJOR
    lists_refunds = False

    def is_header(self, header: list[str]) -> bool:
        names = set(header)
        return names >= {"id", "Amount", "Amount Refunded", "Currency"} and bool(names & set(_DATES))

    def read(self, row: dict[str, str], zone: ZoneInfo) -> Said:
        currency = cells.currency_of(row["Currency"])
        if not row["id"]:
            raise CellError("it has no id")
        status = row.get("Status", "")
        refunded = row["Amount Refunded"]
        # The column's name says UTC, whatever zone the file is otherwise in.
        return Said(
            kind=LineKind.CHARGE,
            said_kind=status[:64],
            status=_status(row),
            reference=row["id"],
            charge_ref=row["id"] if not row["id"].startswith("pi_") else "",
            intent_ref=row.get("PaymentIntent ID", "") or (row["id"] if row["id"].startswith("pi_") else ""),
            customer_ref=row.get("Customer ID", ""),
            amount_minor=cells.major(row["Amount"], currency),
            refunded_minor=cells.major(refunded, currency) if refunded else 0,
            currency=currency,
            occurred_at=cells.moment(next(row[name] for name in _DATES if name in row), ZoneInfo("UTC")),
            effect_mark=cells.uuid_or_none(row.get(f"{EFFECT_METADATA} (metadata)", "")),
            key_mark=row.get(f"{KEY_METADATA} (metadata)", "")[:255],
        )


def _status(row: dict[str, str]) -> LineStatus:
    said = row.get("Status", "")
    if said in _MOVED_NOTHING:
        return _MOVED_NOTHING[said]
    return LineStatus.PENDING if row.get("Captured", "").lower() == "false" else LineStatus.DONE
