"""The calls behind a number of the tools page."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import django_filters
from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.lookups import IsNull
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, filter_group
from console.periods import Period, period_group
from console.titles import titles_in_list
from conversations.models import Conversation, ToolCall
from conversations.vocabulary import CallStatus

_YES_NO: Final = (("true", "Only those"),)
_NO_CODE: Final = "-"


class CallFilter(django_filters.FilterSet):
    """`error` is an exact code; "-" is a failure that named none."""

    tool = django_filters.CharFilter(field_name="name", max_length=255, label="Tool")
    status = django_filters.ChoiceFilter(choices=CallStatus.choices)
    error = django_filters.CharFilter(method="by_error", max_length=255, label="Error code")
    slower_than = django_filters.NumberFilter(
        field_name="duration_ms", lookup_expr="gte", label="At least, milliseconds"
    )
    is_retry = django_filters.BooleanFilter(method="by_retry")

    class Meta:
        model = ToolCall
        fields: list[str] = []

    def by_error(self, queryset: QuerySet[ToolCall], name: str, value: str) -> QuerySet[ToolCall]:
        return queryset.filter(status=CallStatus.FAILED, error_code="" if value == _NO_CODE else value)

    def by_retry(self, queryset: QuerySet[ToolCall], name: str, value: bool) -> QuerySet[ToolCall]:
        """Calls that succeeded after an equal one of their conversation had failed."""
        failed = ToolCall.objects.filter(
            conversation_id=OuterRef("conversation_id"),
            name=OuterRef("name"),
            status=CallStatus.FAILED,
            seq__lt=OuterRef("seq"),
        )
        same = failed.filter(arguments=OuterRef("arguments"))
        neither = failed.filter(IsNull(F("arguments"), True), IsNull(OuterRef("arguments"), True))
        retried = Exists(same) | Exists(neither)
        return queryset.filter(retried, status=CallStatus.SUCCEEDED) if value else queryset.exclude(retried)


@dataclass(frozen=True, slots=True)
class Row:
    call: ToolCall
    title: str


def listed(reach: Reach, period: Period) -> QuerySet[ToolCall]:
    calls = ToolCall.objects.filter(requested_at__gte=period.since, requested_at__lt=period.until)
    if reach.sees_all:
        return calls
    seen = Conversation.objects.filter(pk=OuterRef("conversation_id"), account__realm_id__in=reach.realm_ids)
    return calls.filter(Exists(seen))


def rows_of(calls: Iterable[ToolCall], *, user: User, now: datetime) -> list[Row]:
    """Return the rows of a page with the titles that `user` may read; two queries."""
    page = list(calls)
    titles = titles_in_list({call.conversation_id for call in page}, user=user, now=now)
    return [Row(call, titles.get(call.conversation_id, "")) for call in page]


def filter_groups(query: QueryDict) -> list[FilterGroup]:
    return [
        period_group(query),
        filter_group(query=query, name="status", title="status", options=CallStatus.choices),
        filter_group(query=query, name="is_retry", title="retry that succeeded", options=_YES_NO),
    ]
