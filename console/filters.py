"""Filters of lists that look at more than one app."""

import django_filters
from django.db.models import Exists, OuterRef, QuerySet

from conversations.filters import ConversationFilter
from conversations.models import Conversation
from ledger.models import ToolEffect


class ListedConversationFilter(ConversationFilter):
    """The store's own filters, and whether money or the world was touched."""

    has_effect = django_filters.BooleanFilter(method="by_effect")

    def by_effect(self, queryset: QuerySet[Conversation], name: str, value: bool) -> QuerySet[Conversation]:
        has_effect = Exists(ToolEffect.objects.filter(conversation_id=OuterRef("id")))
        return queryset.filter(has_effect if value else ~has_effect)
