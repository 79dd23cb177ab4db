"""The formats that files are read in: told apart by their header."""

from collections.abc import Sequence

from ledger.statements.formats.plain_csv import PlainCsv
from ledger.statements.formats.stripe_balance_history import StripeBalanceHistory
from ledger.statements.formats.stripe_itemised import StripeItemised
from ledger.statements.formats.stripe_payments_export import StripePaymentsExport
from ledger.statements.lines import Format

FORMATS: Sequence[Format] = (StripePaymentsExport(), StripeBalanceHistory(), StripeItemised(), PlainCsv())


def format_of(header: list[str]) -> Format | None:
    """Return the format whose header this is, or None."""
    return next((known for known in FORMATS if known.is_header(header)), None)
