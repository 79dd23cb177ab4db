"""Numbers as the console writes them: amounts, costs, sizes. The only place where a cost is rounded."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from conversations.currency import major_text

NOTHING: Final = "–"
MINUS: Final = "−"

_COST_STEP: Final = Decimal("0.0001")
_SIZE_UNITS: Final = ("KB", "MB", "GB", "TB")


def amount_text(minor: int, currency: str) -> str:
    """Return an amount in its currency's own decimals, with a true minus: "1,312.40", "−76.99"."""
    sign, whole, decimals = _split(major_text(minor, currency))
    return f"{sign}{int(whole):,}{decimals}"


def cost_text(cost: Decimal) -> str:
    """Return a model's cost with four decimals; one that is not zero never reads as zero."""
    rounded = cost.quantize(_COST_STEP, rounding=ROUND_HALF_UP)
    if cost and not rounded:
        return f"< {_COST_STEP}" if cost > 0 else f"> {MINUS}{_COST_STEP}"
    sign, whole, decimals = _split(f"{rounded:f}")
    return f"{sign}{int(whole):,}{decimals}"


def size_text(size: int) -> str:
    """Return a number of bytes: exact below 10,000, then in units of a thousand with one decimal at most."""
    if size < 10_000:
        return f"{size:,} byte" if size == 1 else f"{size:,} bytes"
    power = 1
    while power < len(_SIZE_UNITS) and _rounded(size, 1_000**power) >= 1_000:
        power += 1
    unit = 1_000**power
    tenths = _rounded(size * 10, unit)
    number = f"{tenths // 10}.{tenths % 10}" if tenths < 100 else f"{_rounded(size, unit):,}"
    return f"{number} {_SIZE_UNITS[power - 1]}"


def _rounded(size: int, unit: int) -> int:
    return (size + unit // 2) // unit


def _split(plain: str) -> tuple[str, str, str]:
    """Cut "-1312.40" into a true minus, the whole units, and the decimals with their point."""
    whole, point, decimals = plain.removeprefix("-").partition(".")
    return MINUS if plain.startswith("-") else "", whole, point + decimals
