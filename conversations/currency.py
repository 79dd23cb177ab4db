"""Amounts of money as the processors count them: integer minor units and an exponent per currency.

The exponents are those of the processors' interfaces, not of ISO 4217: the two lists differ for
MGA, UGX and ISK. Nothing here is a float, and nothing rounds: an amount that cannot be said
exactly is an error.
"""

import re
from typing import Final

_DEFAULT_EXPONENT: Final = 2

_EXPONENTS: Final[dict[str, int]] = {
    **dict.fromkeys(
        (
            "BIF",
            "CLP",
            "DJF",
            "GNF",
            "JPY",
            "KMF",
            "KRW",
            "MGA",
            "PYG",
            "RWF",
            "VND",
            "VUV",
            "XAF",
            "XOF",
            "XPF",
        ),
        0,
    ),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}

# They have no minor unit in life, yet travel with two decimals: 5 ISK is sent as 500.
_SENT_WITH_DECIMALS_THEY_LACK: Final = frozenset({"ISK", "UGX"})

_MAJOR_UNITS: Final = re.compile(
    r"(?P<sign>[-−+]?)(?P<whole>[0-9]{1,18})(?:\.(?P<decimals>[0-9]{1,6}))?", re.ASCII
)

_WITH_THOUSANDS: Final = re.compile(r"[-−+]?[0-9]{1,3}(?:,[0-9]{3})+(?P<decimals>\.[0-9]+)?", re.ASCII)

# What the processor moves is a multiple of this many minor units: the last of three decimals is zero, and
# a currency that travels with decimals it lacks moves in whole units.
_STEPS: Final[dict[str, int]] = {
    **dict.fromkeys(("BHD", "JOD", "KWD", "OMR", "TND"), 10),
    **dict.fromkeys(_SENT_WITH_DECIMALS_THEY_LACK, 100),
}


class AmountError(ValueError):
    """An amount that this currency cannot hold exactly, or text that is no amount."""


def exponent(currency: str) -> int:
    """How many decimals the minor unit of `currency` stands for; case is ignored."""
    return _EXPONENTS.get(currency.upper(), _DEFAULT_EXPONENT)


def step(currency: str) -> int:
    """Return of how many minor units an amount must be a multiple for the processor to move it."""
    return _STEPS.get(currency.upper(), 1)


def major_text(minor: int, currency: str) -> str:
    """Return `minor` in major units, in the currency's own decimals: "1312.40", "14200", "-31.500".

    Without separators of thousands, for exports and forms. ISK and UGX show no decimals unless
    the amount has some: an odd amount is shown, never rounded away.
    """
    decimals = exponent(currency)
    whole, rest = divmod(abs(minor), 10**decimals)
    sign = "-" if minor < 0 else ""
    if decimals == 0 or (rest == 0 and currency.upper() in _SENT_WITH_DECIMALS_THEY_LACK):
        return f"{sign}{whole}"
    return f"{sign}{whole}.{rest:0{decimals}d}"


def minor_units(text: str, currency: str) -> int:
    """Return the minor units of an amount written in major units, as statements write them.

    Raises `AmountError` where the text is no plain decimal number, or where it has more decimals
    than the currency: such an amount belongs to another currency, and is not rounded into this one.
    """
    match = _MAJOR_UNITS.fullmatch(text.strip())
    if match is None:
        raise AmountError(f"“{text[:40]}” is no amount in {currency.upper()}: write it like 12.50.")
    decimals = exponent(currency)
    written = (match["decimals"] or "").rstrip("0")
    if len(written) > decimals:
        raise AmountError(f"“{text[:40]}” has more decimals than {currency.upper()}, which has {decimals}.")
    minor = int(match["whole"] + written.ljust(decimals, "0"))
    return -minor if match["sign"] in ("-", "−") else minor


def typed_minor_units(text: str, currency: str) -> int:
    """Return the minor units of an amount as a person types or pastes it: "1,312.40" too.

    A comma stands between thousands and nowhere else. Raises `AmountError` for "12,50", which would be a
    hundred times as much without its comma, and for "1,250" of a currency with three decimals, which can
    be read either way.
    """
    written = text.strip()
    if "," in written:
        grouped = _WITH_THOUSANDS.fullmatch(written)
        if grouped is None or (exponent(currency) == 3 and grouped["decimals"] is None):
            raise AmountError(
                f"“{written[:40]}” has a comma that may stand for a fraction: write it like 1250.00."
            )
    return minor_units(written.replace(",", ""), currency)
