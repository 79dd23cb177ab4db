"""The plain CSV that any processor's movements can be written in; docs/statements.md describes it."""

from zoneinfo import ZoneInfo

from ledger.evidence import COMPENSATION_METADATA, EFFECT_METADATA, KEY_METADATA
from ledger.statements import cells
from ledger.statements.cells import CellError
from ledger.statements.lines import Said
from ledger.statements.vocabulary import AmountStyle, LineKind, LineStatus, StatementFormat

_NEEDED = frozenset({"kind", "reference", "currency", "occurred_at"})
_SIGNS = {LineKind.REFUND: -1, LineKind.RELEASE: -1, LineKind.DISPUTE: -1}


class PlainCsv:
    """Columns by name, in any order. Amounts are positive; the kind gives the sign.

    A row has `amount_major` or `amount_minor`, never both.
    """

    name = StatementFormat.PLAIN_CSV
    processor = ""
    amount_style = AmountStyle.MAJOR
    lists_refunds = True

    def is_header(self, header: list[str]) -> bool:
        names = set(header)
        return names >= _NEEDED and len({"amount_major", "amount_minor"} & names) == 1

    def read(self, row: dict[str, str], zone: ZoneInfo) -> Said:
        kind = _choice(row["kind"], LineKind, "kind")
        currency = cells.currency_of(row["currency"])
        amount = _amount(row, currency)
        reference = row["reference"]
        if not reference:
            raise CellError("it has no reference")
        fee = row.get("fee_major", "")
        return Said(
            kind=kind,
            said_kind=row["kind"],
            status=_choice(row.get("status") or "done", LineStatus, "status"),
            reference=reference,
            movement_ref=row.get("movement_ref", ""),
            charge_ref=row.get("charge_ref", "") or (reference if kind == LineKind.CHARGE else ""),
            intent_ref=row.get("intent_ref", ""),
            customer_ref=row.get("customer_ref", ""),
            amount_minor=amount * _SIGNS.get(kind, 1),
            fee_minor=cells.major(fee, currency) if fee else None,
            currency=currency,
            occurred_at=cells.moment(row["occurred_at"], zone),
            effect_mark=cells.uuid_or_none(row.get(EFFECT_METADATA, "")),
            key_mark=row.get(KEY_METADATA, "")[:255],
            compensation_mark=cells.uuid_or_none(row.get(COMPENSATION_METADATA, "")),
        )


def _amount(row: dict[str, str], currency: str) -> int:
    if "amount_minor" in row:
        amount = cells.minor(row["amount_minor"], currency)
    else:
        amount = cells.major(row["amount_major"], currency)
    if amount < 0:
        raise CellError("the amount is negative; the kind says which way it goes")
    return amount


def _choice[Choice: (LineKind, LineStatus)](text: str, choices: type[Choice], column: str) -> Choice:
    try:
        return choices(text)
    except ValueError as error:
        raise CellError(f"“{text[:40]}” is no {column}; there are {', '.join(choices.values)}") from error
