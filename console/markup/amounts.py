"""Amounts, costs and sizes. A zero is muted, nothing is an en dash, and currencies are never added."""

from decimal import Decimal
from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.hostile import visible
from console.quantities import MINUS, NOTHING, amount_text, cost_text, size_text

_ABSENT: Final = '<span class="amount muted">{}</span>'


def money(minor: int | None, currency: str = "", bare: bool = False, total: bool = False) -> SafeString:
    """{% money minor currency [bare=True] [total=True] %}

    `bare` leaves out the code, for a column that has its currency in its head; `total` is for the one
    sum of a page. An amount without a currency is shown in minor units, and says so.
    """
    if minor is None:
        return format_html(_ABSENT, NOTHING)
    classes = " ".join(
        name for name, is_on in (("amount", True), ("amount-sum", total), ("muted", minor == 0)) if is_on
    )
    if not currency:
        in_minor_units = '<span class="{}">{} <span class="cur">minor units</span></span>'
        return format_html(in_minor_units, classes, f"{minor:,}".replace("-", MINUS))
    code = "" if bare else format_html('<span class="cur">{}</span>', visible(currency.upper()))
    return format_html('<span class="{}">{}{}</span>', classes, code, amount_text(minor, currency))


def cost(value: Decimal | None, currency: str = "") -> SafeString:
    """{% cost value [currency="USD"] %}: rounded to four decimals here, and nowhere before."""
    if value is None:
        return format_html(_ABSENT, NOTHING)
    classes = "amount" if value else "amount muted"
    code = format_html('<span class="cur">{}</span>', currency) if currency else ""
    return format_html('<span class="{}">{}{}</span>', classes, code, cost_text(value))


def bytesize(value: int | None) -> str:
    """{{ size|bytesize }}: "2,148 bytes", "412 KB"."""
    return NOTHING if value is None else size_text(value)
