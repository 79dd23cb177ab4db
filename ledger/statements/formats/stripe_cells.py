"""What Stripe's exports have in common: dates whose zone stands in the column's name, two currencies."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from ledger.statements import cells
from ledger.statements.cells import CellError

_CREATED: Final = re.compile(r"Created(?: date)?(?: \((?P<zone>[^)]+)\))?")
_CHARGES: Final = ("ch_", "py_")


def has_created(names: Iterable[str]) -> bool:
    return any(_CREATED.fullmatch(name) for name in names)


def created(row: Mapping[str, str], zone: ZoneInfo) -> datetime:
    """Read "Created (UTC)", or "Created date (Europe/Paris)"; without a name the file's zone counts.

    The dashboard writes exports in the zone of whoever asks for them.
    """
    name, found = next((name, found) for name in row if (found := _CREATED.fullmatch(name)))
    if found["zone"]:
        named = cells.zone_of(found["zone"])
        if named is None:
            raise CellError(f"the column “{name[:60]}” names a time zone that is not known")
        zone = named
    return cells.moment(row[name], zone)


def customers_amount(amount: str, currency: str, facing: str, facing_currency: str) -> tuple[int, str]:
    """Return what moved in the currency that the customer saw, with the sign that it has on the balance.

    In one currency the balance's own amount counts: for some rows the facing amount is that of the
    whole charge.
    """
    settled_in = cells.currency_of(currency)
    settled = cells.major(amount, settled_in)
    if not facing or not facing_currency or facing_currency.lower() == settled_in:
        return settled, settled_in
    seen_in = cells.currency_of(facing_currency)
    seen = cells.major(facing, seen_in)
    if settled:
        seen = -abs(seen) if settled < 0 else abs(seen)
    return seen, seen_in


def is_charge(reference: str) -> bool:
    return reference.startswith(_CHARGES)
