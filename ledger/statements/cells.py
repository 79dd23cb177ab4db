"""What cells of a statement say: amounts, moments, ids. A cell that can be read two ways is refused."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from conversations.currency import AmountError, exponent, minor_units

_ISO: Final = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)
_CURRENCY: Final = re.compile(r"[A-Za-z]{3}", re.ASCII)
_WHOLE: Final = re.compile(r"[-+−]?\d{1,18}", re.ASCII)
_THOUSAND: Final = re.compile(r"[-+−]?\d{1,3}\.\d{3}", re.ASCII)
_MOST: Final = 2**63 - 1


class CellError(ValueError):
    """A cell that cannot be read for certain; the message says which and why."""


def currency_of(text: str) -> str:
    if _CURRENCY.fullmatch(text) is None:
        raise CellError(f"“{text[:20]}” is no currency code")
    return text.lower()


def major(text: str, currency: str) -> int:
    """Read an amount in major units: 19.99. "1,299" is refused: it can be a thousand or a fraction.

    So is "1.000" of a currency that has no three decimals: half of Europe writes a thousand so.
    """
    if "," in text:
        raise CellError(f"“{text[:40]}” has a comma: it may stand for a thousand or for a fraction")
    if _THOUSAND.fullmatch(text) and exponent(currency) != 3:
        raise CellError(f"“{text[:40]}” has a point that may part thousands: write it with two decimals")
    try:
        amount = minor_units(text, currency)
    except AmountError as error:
        raise CellError(str(error)) from error
    if abs(amount) > _MOST:
        raise CellError(f"“{text[:40]}” is more than any ledger holds")
    return amount


def minor(text: str, currency: str) -> int:
    """Read an amount in minor units: 1999. One with a point is refused, as it is in major units."""
    if _WHOLE.fullmatch(text) is None:
        raise CellError(f"“{text[:40]}” is no whole number of {currency.upper()} minor units")
    return int(text.replace("−", "-"))


def moment(text: str, zone: ZoneInfo) -> datetime:
    """Read an ISO date and time; its own offset wins over the statement's zone.

    A date as a locale writes it (03/04/2026) is refused: nobody can say which
    of the two numbers is the month.
    """
    found = _ISO.fullmatch(text)
    if found is None:
        raise CellError(f"“{text[:40]}” is no date that can be read one way only; write 2026-03-04 14:05:00")
    year, month, day, hour, minute, second, offset = found.groups()
    try:
        plain = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=UTC
        )
        if offset in ("Z", "UTC"):
            return plain
        if offset:
            return datetime.fromisoformat(f"{plain.replace(tzinfo=None).isoformat()}{offset}").astimezone(UTC)
        return _in_zone(plain, zone, text)
    except CellError:
        raise
    except (ValueError, OverflowError) as error:
        raise CellError(f"“{text[:40]}” is no date of the calendar") from error


def zone_of(name: str) -> ZoneInfo | None:
    """Return the zone of this name, and None for what is none."""
    with suppress(ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(name)
    return None


def _in_zone(plain: datetime, zone: ZoneInfo, text: str) -> datetime:
    """Refuse an hour that the clock showed twice, or never."""
    early = plain.replace(tzinfo=zone, fold=0).astimezone(UTC)
    late = plain.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if early != late:
        raise CellError(f"“{text[:40]}” was shown twice or never by the clocks of {zone.key}")
    return early


def mark(cells: Mapping[str, str], names: tuple[str, ...]) -> str:
    """Return the first of these metadata cells that says something."""
    return next((cells[name] for name in names if cells.get(name)), "")


def uuid_or_none(text: str) -> UUID | None:
    """Anybody with a key can write metadata: what is no id is nothing."""
    try:
        return UUID(text)
    except ValueError:
        return None
