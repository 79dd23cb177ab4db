"""Filters of the API's lists: the ledger's own, and what a program asks by."""

import django_filters
from django.db.models import QuerySet

from ledger import filters
from ledger.models import GuardQuestion, ToolEffect
from ledger.querysets import find_effects_by_reference
from ledger.vocabulary import EffectState


class EffectFilter(filters.EffectFilter):
    """`state` is the row's; `is_sent` parts what never left from what was sent and is not known."""

    state = django_filters.ChoiceFilter(choices=EffectState.choices)
    is_sent = django_filters.BooleanFilter(field_name="sent_at", lookup_expr="isnull", exclude=True)
    external_ref = django_filters.CharFilter(
        method="by_reference",
        max_length=255,
        label="Any id of the processor: intent, charge, refund, dispute",
    )
    conversation_id = django_filters.UUIDFilter(label="Conversation")

    def by_reference(self, queryset: QuerySet[ToolEffect], name: str, value: str) -> QuerySet[ToolEffect]:
        return queryset.filter(pk__in=list(find_effects_by_reference(value).values_list("pk", flat=True)))


class QuestionFilter(django_filters.FilterSet):
    is_answered = django_filters.BooleanFilter(field_name="is_allowed", lookup_expr="isnull", exclude=True)

    class Meta:
        model = GuardQuestion
        fields: list[str] = []
