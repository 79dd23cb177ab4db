"""Stripe's payments export: one row for each payment, its refunds summed up and unnamed.

"All columns" adds the intent, disputes and metadata; older files name the date differently.
"""

from zoneinfo import ZoneInfo

from ledger.evidence import EFFECT_METADATA, KEY_METADATA
from ledger.processors import STRIPE
from ledger.statements import cells
from ledger.statements.cells import CellError
from ledger.statements.formats.stripe_cells import created, has_created
from ledger.statements.lines import Said
from ledger.statements.vocabulary import AmountStyle, LineKind, LineStatus, StatementFormat

_MOVED = frozenset(
    {
        *("paid", "succeeded", "refunded", "partial refund", "partially refunded"),
        *("disputed", "dispute won", "dispute lost"),
    }
)
_MOVED_NOTHING = {
    **dict.fromkeys(("failed", "canceled", "cancelled", "blocked", "expired"), LineStatus.FAILED),
    **dict.fromkeys(("uncaptured", "pending", "processing", "incomplete"), LineStatus.PENDING),
    **dict.fromkeys(
        (f"requires {what}" for what in ("action", "payment method", "confirmation", "capture")),
        LineStatus.PENDING,
    ),
}


class StripePaymentsExport:
    name = StatementFormat.STRIPE_PAYMENTS
    processor = STRIPE
    amount_style = AmountStyle.MAJOR
    lists_refunds = False

    def is_header(self, header: list[str]) -> bool:
        names = set(header)
        return names >= {"id", "Amount", "Amount Refunded", "Currency"} and has_created(names)

    def read(self, row: dict[str, str], zone: ZoneInfo) -> Said:
        currency = cells.currency_of(row["Currency"])
        if not row["id"]:
            raise CellError("it has no id")
        status = row.get("Status", "")
        refunded = row["Amount Refunded"]
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
            occurred_at=created(row, zone),
            effect_mark=cells.uuid_or_none(row.get(f"{EFFECT_METADATA} (metadata)", "")),
            key_mark=row.get(f"{KEY_METADATA} (metadata)", "")[:255],
        )


def _status(row: dict[str, str]) -> LineStatus:
    """Whether the payment's money has moved; a label that nobody knows is decided by what was captured."""
    label = row.get("Status", "")
    said, captured = label.lower().replace("_", " "), row.get("Captured", "").lower()
    if said in _MOVED_NOTHING:
        return _MOVED_NOTHING[said]
    if captured == "false":
        return LineStatus.PENDING
    if said in _MOVED or captured == "true":
        return LineStatus.DONE
    raise CellError(f"neither its status “{label[:40]}” nor what was captured says whether money moved")
