"""The attempts behind a number of the cost page. Sealed ones are known by their totals only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import parse_qsl, urlencode

import django_filters
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.urls import reverse

from access.reach import Reach
from console.composite_pages import number_column, page_by_columns, uuid_column
from console.cost_pages.sums import CostLine, Cut
from console.filtering import FilterGroup, filter_group
from console.periods import Period, period_group
from console.titles import titles_in_list
from conversations.models import Generation, ToolCall
from conversations.paging import Page
from conversations.reads.attempts import FAILED
from conversations.vocabulary import GenerationStatus

_KEY: Final = (uuid_column("conversation_id"), number_column("number"))
# What stands for nothing in an address: an attempt whose prompt version was never named.
NOT_NAMED: Final = "-"


class AttemptFilter(django_filters.FilterSet):
    """Each filter is one way in which the cost page sums up, so that its numbers lead here."""

    model = django_filters.CharFilter(method="by_served", max_length=255, label="Served by")
    requested = django_filters.CharFilter(field_name="requested_model", max_length=255, label="Asked for")
    provider = django_filters.CharFilter(max_length=64, label="Provider")
    prompt = django_filters.CharFilter(method="by_prompt", max_length=255, label="Prompt version")
    tool = django_filters.CharFilter(method="by_tool", max_length=255, label="Tool")
    account = django_filters.CharFilter(
        field_name="conversation__account__external_id", max_length=255, label="Account id"
    )
    realm = django_filters.CharFilter(
        field_name="conversation__account__realm__slug", max_length=64, label="Realm"
    )
    status = django_filters.ChoiceFilter(choices=GenerationStatus.choices)
    is_failed = django_filters.BooleanFilter(method="by_failure")
    is_unpriced = django_filters.BooleanFilter(field_name="cost_usd", lookup_expr="isnull")

    class Meta:
        model = Generation
        fields: list[str] = []

    def by_served(self, queryset: QuerySet[Generation], name: str, value: str) -> QuerySet[Generation]:
        """What answered, or what was asked where nothing did: as the cost page names it."""
        return queryset.filter(Q(served_model=value) | Q(served_model="", requested_model=value))

    def by_prompt(self, queryset: QuerySet[Generation], name: str, value: str) -> QuerySet[Generation]:
        return queryset.filter(prompt_version="" if value == NOT_NAMED else value)

    def by_tool(self, queryset: QuerySet[Generation], name: str, value: str) -> QuerySet[Generation]:
        calls = ToolCall.objects.filter(
            conversation_id=OuterRef("conversation_id"), seq=OuterRef("message_seq"), name=value
        )
        return queryset.filter(Exists(calls))

    def by_failure(self, queryset: QuerySet[Generation], name: str, value: bool) -> QuerySet[Generation]:
        return queryset.filter(status__in=FAILED) if value else queryset.exclude(status__in=FAILED)


@dataclass(frozen=True, slots=True)
class LinkedLine:
    """A line of the cost page with the addresses of the attempts that its numbers count."""

    line: CostLine
    url: str

    @property
    def failed_url(self) -> str:
        return f"{self.url}&is_failed=true"

    @property
    def unpriced_url(self) -> str:
        return f"{self.url}&is_unpriced=true"


def linked(line: CostLine, *, cut: Cut | None, period: Period) -> LinkedLine:
    """Return the line with where its attempts are listed; without a cut, all of the period."""
    narrowed = {
        Cut.MODEL: {"model": line.key, "provider": line.second},
        Cut.PROVIDER: {"provider": line.key},
        Cut.TOOL: {"tool": line.key},
        Cut.PROMPT: {"prompt": line.key or NOT_NAMED},
        Cut.ACCOUNT: {"account": line.key, "realm": line.second},
    }
    days = {"from": line.key, "to": line.key} if cut == Cut.DAY else dict(parse_qsl(period.query))
    query = {**days, **(narrowed.get(cut, {}) if cut else {})}
    return LinkedLine(line, f"{reverse('console:attempts')}?{urlencode(query)}")


@dataclass(frozen=True, slots=True)
class Row:
    attempt: Generation
    title: str


def listed(reach: Reach, period: Period) -> QuerySet[Generation]:
    """Return the attempts that the sums of the period are made of."""
    attempts = Generation.objects.filter(
        reach.within("conversation__account__realm_id"),
        created_at__gte=period.since,
        created_at__lt=period.until,
    )
    return attempts.defer("usage", "notes", "body_patch")


def page_of_attempts(attempts: QuerySet[Generation], *, after: str, before: str) -> Page[Generation]:
    return page_by_columns(attempts, moment="created_at", columns=_KEY, after=after, before=before)


def rows_of(attempts: Iterable[Generation], *, user: User, now: datetime) -> list[Row]:
    """Return the rows of a page with the titles that `user` may read; two queries."""
    page = list(attempts)
    titles = titles_in_list({attempt.conversation_id for attempt in page}, user=user, now=now)
    return [Row(attempt, titles.get(attempt.conversation_id, "")) for attempt in page]


def filter_groups(query: QueryDict) -> list[FilterGroup]:
    return [
        period_group(query),
        filter_group(query=query, name="is_failed", title="outcome", options=(("true", "Failed"),)),
        filter_group(query=query, name="is_unpriced", title="price", options=(("true", "Without one"),)),
        filter_group(query=query, name="status", title="status", options=GenerationStatus.choices),
    ]
