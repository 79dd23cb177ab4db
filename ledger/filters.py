"""What effects can be narrowed down by, for the console's list and the API alike."""

import django_filters
from django import forms
from django.db.models import Q, QuerySet

from conversations.currency import AmountError, typed_minor_units
from conversations.filters import MomentFilter
from ledger.models import ToolEffect
from ledger.querysets import disputed, with_standing
from ledger.vocabulary import Operation, Standing


class EffectFilter(django_filters.FilterSet):
    """`amount` is one amount with its currency, as "EUR 180.00"; currencies are never compared."""

    standing = django_filters.ChoiceFilter(choices=Standing.choices, method="by_standing")
    tool = django_filters.CharFilter(field_name="tool_name", max_length=255, label="Tool")
    operation = django_filters.ChoiceFilter(choices=Operation.choices)
    processor = django_filters.CharFilter(max_length=32, label="Processor")
    currency = django_filters.CharFilter(method="by_currency", max_length=3, label="Currency")
    amount = django_filters.CharFilter(method="by_amount", max_length=40, label="Amount, as EUR 180.00")
    account = django_filters.CharFilter(field_name="account__external_id", max_length=255, label="Account id")
    since = MomentFilter(field_name="requested_at", lookup_expr="gte", label="Since")
    until = MomentFilter(field_name="requested_at", lookup_expr="lte", label="Until")
    is_disputed = django_filters.BooleanFilter(method="by_dispute")

    class Meta:
        model = ToolEffect
        fields: list[str] = []

    def by_standing(self, queryset: QuerySet[ToolEffect], name: str, value: str) -> QuerySet[ToolEffect]:
        return with_standing(queryset, Standing(value))

    def by_currency(self, queryset: QuerySet[ToolEffect], name: str, value: str) -> QuerySet[ToolEffect]:
        return queryset.filter(currency=value.lower())

    def by_amount(self, queryset: QuerySet[ToolEffect], name: str, value: str) -> QuerySet[ToolEffect]:
        currency, minor = read_amount(value)
        return queryset.filter(
            Q(amount_minor=minor) | Q(amount_settled_minor=minor), currency=currency.lower()
        )

    def by_dispute(self, queryset: QuerySet[ToolEffect], name: str, value: bool) -> QuerySet[ToolEffect]:
        return disputed(queryset) if value else queryset.exclude(pk__in=disputed(queryset).values("pk"))

    def get_form_class(self) -> type[forms.Form]:
        form = super().get_form_class()
        form.base_fields["amount"].validators.append(_check_amount)
        return form


def read_amount(text: str) -> tuple[str, int]:
    """Read "EUR 180.00" into a currency and minor units. Raises AmountError."""
    currency, _, amount = text.strip().partition(" ")
    if not (amount and len(currency) == 3 and currency.isascii() and currency.isalpha()):
        raise AmountError("Write the currency before the amount: EUR 180.00.")
    return currency.upper(), typed_minor_units(amount, currency)


def _check_amount(text: str) -> None:
    try:
        read_amount(text)
    except AmountError as error:
        raise forms.ValidationError(str(error)) from error
