"""Parts of the reconciliation's pages: amounts by currency, signed differences, bars of age."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from django.template import Library
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.markup.amounts import money
from console.quantities import NOTHING, amount_text
from ledger.models import RunRow

register = Library()
_BAR = 96


class Pair(NamedTuple):
    currency: str
    amount: int | None


class HasAmounts(Protocol):
    @property
    def amounts(self) -> Sequence[int | None]: ...


@register.simple_tag
def amount_in(amounts: Mapping[str, int], currency: str) -> SafeString:
    """{% amount_in band.amounts currency %}: what is not there is an en dash."""
    if currency not in amounts:
        return format_html('<span class="muted">{}</span>', NOTHING)
    return money(amounts[currency], currency, bare=True)


@register.simple_tag
def signed(minor: int, currency: str) -> SafeString:
    """{% signed minor currency %}: a difference says its sign; none is muted."""
    if not minor:
        return money(minor, currency, bare=True)
    sign = "+" if minor > 0 else ""
    return format_html('<span class="amount">{}{}</span>', sign, amount_text(minor, currency))


@register.simple_tag
def difference(row: RunRow) -> SafeString:
    """{% difference row %}: processor less ledger."""
    return signed(row.processor_minor - row.ledger_minor, row.currency)


@register.simple_tag
def age_bar(number: int, most: int, is_late: str = "") -> SafeString:
    """{% age_bar number most is_late=name %}: a bar as long as its share of the largest."""
    width = number * _BAR // most if most else 0
    return format_html(
        '<svg class="age" viewBox="0 0 96 10" aria-hidden="true">'
        '<rect class="{}" x="0" y="1" width="{}" height="8" rx="1"/></svg>',
        "age-late" if is_late == "late" else "",
        width,
    )


@register.filter
def with_currencies(kind: HasAmounts, currencies: Sequence[str]) -> list[Pair]:
    """{{ kind|with_currencies:currencies }}: an amount for each column."""
    return [Pair(*pair) for pair in zip(currencies, kind.amounts, strict=True)]
