"""The processor's report of a month: Stripe's itemised report of balance changes, line by line."""

import csv
import io
from collections.abc import Iterable
from datetime import datetime

from conversations.currency import major_text

HEADER = (
    "balance_transaction_id",
    "created_utc",
    "currency",
    "gross",
    "fee",
    "net",
    "reporting_category",
    "source_id",
    "charge_id",
    "payment_intent_id",
    "customer_id",
    "payment_metadata[counterfoil_effect]",
    "payment_metadata[counterfoil_key]",
)


def report_line(
    *,
    number: int,
    kind: str,
    reference: str,
    charge: str,
    amount: int,
    currency: str,
    at: datetime,
    effect: str,
) -> dict[str, str]:
    """One movement, in minor units. Without `effect`, only the processor's own ids lead to the ledger."""
    return {
        "balance_transaction_id": f"txn_{number:08d}",
        "created_utc": f"{at:%Y-%m-%d %H:%M:%S}",
        "currency": currency,
        "gross": major_text(amount, currency),
        "fee": "0",
        "net": major_text(amount, currency),
        "reporting_category": kind,
        "source_id": reference,
        "charge_id": charge,
        "payment_metadata[counterfoil_effect]": effect,
    }


def as_report(lines: Iterable[dict[str, str]]) -> io.BytesIO:
    """Write the lines as Stripe's itemised report of balance changes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, HEADER, restval="", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(lines)
    return io.BytesIO(text.getvalue().encode("utf-8-sig"))
