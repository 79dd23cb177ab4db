"""Stripe's balance history: one row for each balance transaction, in the currency of settlement.

Where the customer paid in another currency, the customer facing columns hold what the ledger
knows; a file without them is read by the settled amount, which is the same for one currency.
Older files name the charge as the source of a refund: such a row is known by its own id.
"""

from zoneinfo import ZoneInfo

from ledger.evidence import COMPENSATION_METADATA, EFFECT_METADATA, KEY_METADATA
from ledger.processors import STRIPE
from ledger.statements import cells
from ledger.statements.cells import CellError
from ledger.statements.formats.stripe_cells import created, customers_amount, has_created, is_charge
from ledger.statements.lines import Said
from ledger.statements.vocabulary import AmountStyle, LineKind, StatementFormat

_KINDS = {
    "charge": LineKind.CHARGE,
    "payment": LineKind.CHARGE,
    "refund": LineKind.REFUND,
    "payment_refund": LineKind.REFUND,
    "refund_failure": LineKind.REFUND_FAILURE,
    # A payment that was credited and then failed: all of it is let go.
    "payment_failure_refund": LineKind.RELEASE,
}


class StripeBalanceHistory:
    name = StatementFormat.STRIPE_BALANCE
    processor = STRIPE
    amount_style = AmountStyle.MAJOR
    lists_refunds = True

    def is_header(self, header: list[str]) -> bool:
        names = set(header)
        return names >= {"id", "Type", "Source", "Amount", "Net", "Currency"} and has_created(names)

    def read(self, row: dict[str, str], zone: ZoneInfo) -> Said:
        kind = _kind(row)
        amount, currency = _amount(row, kind)
        source = row["Source"]
        is_of_charge = kind != LineKind.OTHER and is_charge(source)
        reference = source if source and (kind == LineKind.CHARGE or not is_of_charge) else row["id"]
        if not reference:
            raise CellError("it has no id and no source")
        fee_currency = cells.currency_of(row["Currency"])
        return Said(
            kind=kind,
            said_kind=row["Type"][:64],
            reference=reference,
            movement_ref=row["id"],
            charge_ref=source if is_of_charge else "",
            amount_minor=amount,
            fee_minor=cells.major(row["Fee"], fee_currency) if row.get("Fee") else None,
            currency=currency,
            occurred_at=created(row, zone),
            effect_mark=cells.uuid_or_none(row.get(f"{EFFECT_METADATA} (metadata)", "")),
            key_mark=row.get(f"{KEY_METADATA} (metadata)", "")[:255],
            compensation_mark=cells.uuid_or_none(row.get(f"{COMPENSATION_METADATA} (metadata)", "")),
        )


def _kind(row: dict[str, str]) -> LineKind:
    """Disputes are adjustments here, known by their source: taken, or given back by the sign."""
    source = row["Source"]
    if source.startswith(("dp_", "du_")):
        return LineKind.DISPUTE if row["Amount"].startswith(("-", "−")) else LineKind.DISPUTE_REVERSAL
    if row["Type"] == "adjustment" and source.startswith(("re_", "pyr_")):
        return LineKind.REFUND_FAILURE
    return _KINDS.get(row["Type"], LineKind.OTHER)


def _amount(row: dict[str, str], kind: LineKind) -> tuple[int, str]:
    facing = "" if kind == LineKind.OTHER else row.get("Customer Facing Amount", "")
    return customers_amount(row["Amount"], row["Currency"], facing, row.get("Customer Facing Currency", ""))
