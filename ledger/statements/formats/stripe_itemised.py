"""Stripe's itemised reports: balance_change_from_activity and payout_reconciliation, columns chosen freely.

`reporting_category` is finer than the balance history's type: it names releases of partial
captures, disputes and refunds that failed.
"""

from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from ledger.evidence import COMPENSATION_METADATA, EFFECT_METADATA, KEY_METADATA
from ledger.processors import STRIPE
from ledger.statements import cells
from ledger.statements.cells import CellError
from ledger.statements.formats.stripe_cells import customers_amount, is_charge
from ledger.statements.lines import Said
from ledger.statements.vocabulary import AmountStyle, LineKind, StatementFormat

_KINDS = {
    "charge": LineKind.CHARGE,
    "refund": LineKind.REFUND,
    "refund_failure": LineKind.REFUND_FAILURE,
    "partial_capture_reversal": LineKind.RELEASE,
    # A payment that was credited and then failed: all of it is let go.
    "charge_failure": LineKind.RELEASE,
    "dispute": LineKind.DISPUTE,
    "dispute_reversal": LineKind.DISPUTE_REVERSAL,
}


class StripeItemised:
    name = StatementFormat.STRIPE_ITEMISED
    processor = STRIPE
    amount_style = AmountStyle.MAJOR
    lists_refunds = True

    def is_header(self, header: list[str]) -> bool:
        names = set(header)
        needed = {"balance_transaction_id", "currency", "gross", "reporting_category"}
        return names >= needed and bool(names & {"created_utc", "created"})

    def read(self, row: dict[str, str], zone: ZoneInfo) -> Said:
        kind = _KINDS.get(row["reporting_category"], LineKind.OTHER)
        amount, currency = _amount(row, kind)
        source = row.get("source_id", "")
        is_of_charge = kind != LineKind.OTHER and is_charge(source)
        # A refund is never known by its charge's id: a charge may have several.
        is_own = bool(source) and (kind == LineKind.CHARGE or not is_of_charge)
        reference = source if is_own else row["balance_transaction_id"]
        if not reference:
            raise CellError("it has no source and no balance transaction")
        fee = row.get("fee", "")
        return Said(
            kind=kind,
            said_kind=row["reporting_category"][:64],
            reference=reference,
            movement_ref=row["balance_transaction_id"],
            charge_ref=row.get("charge_id", "") or (source if is_of_charge else ""),
            intent_ref=row.get("payment_intent_id", ""),
            customer_ref=row.get("customer_id", ""),
            amount_minor=amount,
            fee_minor=cells.major(fee, cells.currency_of(row["currency"])) if fee else None,
            currency=currency,
            occurred_at=_moment(row, zone),
            effect_mark=_effect_mark(row, kind),
            key_mark=row.get(f"payment_metadata[{KEY_METADATA}]", "")[:255],
            compensation_mark=cells.uuid_or_none(row.get(f"refund_metadata[{COMPENSATION_METADATA}]", "")),
        )


def _moment(row: dict[str, str], zone: ZoneInfo) -> datetime:
    """`created` is in the zone that the report was asked for in; `created_utc` says its own."""
    if row.get("created_utc"):
        return cells.moment(row["created_utc"], ZoneInfo("UTC"))
    return cells.moment(row.get("created", ""), zone)


def _amount(row: dict[str, str], kind: LineKind) -> tuple[int, str]:
    facing = "" if kind == LineKind.OTHER else row.get("customer_facing_amount", "")
    return customers_amount(row["gross"], row["currency"], facing, row.get("customer_facing_currency", ""))


def _effect_mark(row: dict[str, str], kind: LineKind) -> UUID | None:
    """A refund's row also carries its payment's metadata: only its own say whose refund it is."""
    of = "refund_metadata" if kind == LineKind.REFUND else "payment_metadata"
    return cells.uuid_or_none(row.get(f"{of}[{EFFECT_METADATA}]", ""))
