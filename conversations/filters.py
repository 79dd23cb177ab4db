"""What conversations can be narrowed down by, for the console's list and the API alike."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import django_filters
from django import forms
from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from psycopg import sql

from conversations.models import Conversation, Generation, RawBody, ToolCall
from conversations.vocabulary import GenerationStatus, RawClass, Source

_MOST_WORDS = 8
# What fewer rows than these hold is looked up by value; of anything else a page is soon found by time,
# unless the rows are those of a few long conversations: then so many more are read before it is given up.
_RARE = 2_000
_FEW_CONVERSATIONS, _MANY = 50, 50_000


class MomentFilter(django_filters.IsoDateTimeFilter):
    """A moment as people type it or programs write it; one without a zone is in the page's."""

    def __init__(self, **fields: Any) -> None:
        example = "2026-11-24 14:05"
        super().__init__(
            widget=forms.DateTimeInput(attrs={"placeholder": example}),
            error_messages={"invalid": f"Write a time like {example}."},
            **fields,
        )


class ConversationFilter(django_filters.FilterSet):
    """Every filter is one condition on the conversation's own row, or one probe beside it."""

    account = django_filters.CharFilter(field_name="account__external_id", max_length=255, label="Account id")
    realm = django_filters.CharFilter(field_name="account__realm__slug", max_length=64, label="Realm")
    source = django_filters.ChoiceFilter(choices=Source.choices)
    model = django_filters.CharFilter(method="by_model", max_length=255, label="Model")
    tool = django_filters.CharFilter(method="by_tool", max_length=255, label="Tool")
    status = django_filters.ChoiceFilter(choices=GenerationStatus.choices, method="by_last_status")
    has_fork = django_filters.BooleanFilter()
    is_replayable = django_filters.BooleanFilter(method="by_replayability")
    active_since = MomentFilter(field_name="last_activity_at", lookup_expr="gte")
    active_until = MomentFilter(field_name="last_activity_at", lookup_expr="lte", label="Active until")
    quarantined_since = MomentFilter(method="by_quarantine", label="With nodes quarantined since")
    title = django_filters.CharFilter(method="by_title_words", max_length=200, label="Words of the title")

    class Meta:
        model = Conversation
        fields: list[str] = []

    def by_model(self, queryset: QuerySet[Conversation], name: str, value: str) -> QuerySet[Conversation]:
        """Asked for or served: a fallback is found under both names."""
        attempts = Generation.objects.filter(conversation_id=OuterRef("id"))
        held = holders_of_rare(Generation, {"served_model": value, "requested_model": value})
        if held is not None:
            return queryset.filter(held)
        return queryset.filter(Exists(attempts.filter(Q(served_model=value) | Q(requested_model=value))))

    def by_tool(self, queryset: QuerySet[Conversation], name: str, value: str) -> QuerySet[Conversation]:
        held = holders_of_rare(ToolCall, {"name": value})
        if held is not None:
            return queryset.filter(held)
        return queryset.filter(Exists(ToolCall.objects.filter(conversation_id=OuterRef("id"), name=value)))

    def by_last_status(
        self, queryset: QuerySet[Conversation], name: str, value: str
    ) -> QuerySet[Conversation]:
        found = queryset.filter(Exists(last_attempts().filter(status=value)))
        held = holders_of_rare(Generation, {"status": value})
        return found if held is None else found.filter(held)

    def by_replayability(
        self, queryset: QuerySet[Conversation], name: str, value: bool
    ) -> QuerySet[Conversation]:
        return queryset.filter(replay_obstacle="") if value else queryset.exclude(replay_obstacle="")

    def by_quarantine(
        self, queryset: QuerySet[Conversation], name: str, value: datetime
    ) -> QuerySet[Conversation]:
        """Found through the index of raw bodies by class and age, not by asking every conversation."""
        nodes = RawBody.objects.filter(raw_class=RawClass.QUARANTINE, created_at__gte=value)
        return queryset.filter(pk__in=nodes.filter(conversation__isnull=False).values("conversation_id"))

    def by_title_words(
        self, queryset: QuerySet[Conversation], name: str, value: str
    ) -> QuerySet[Conversation]:
        """All of the words, in any order, in upper or lower case."""
        for word in value.split()[:_MOST_WORDS]:
            queryset = queryset.filter(title__icontains=word)
        return queryset


def holders_of_rare(model: type[Generation | ToolCall], values: Mapping[str, str]) -> Q | None:
    """The conversations that hold a row with one of the values, or None where the value is not rare.

    A list is read newest first until its page is full: of a value that hardly anything has, that
    would be all of it. The values are part of the statement's text: with a parameter the database
    may plan once for every value, and the common ones decide.
    """
    found: set[UUID] = set()
    for column, value in values.items():
        holders = _holders(model._meta.db_table, column, value)
        if holders is None:
            return None
        found |= holders
    return Q(pk__in=RawSQL("SELECT unnest(%s::uuid[])", [list(found)]))


def _holders(table: str, column: str, value: str) -> set[UUID] | None:
    """The conversations of the rows with the value; None where these are too many to be asked for first."""
    holders, rows = _first_holders(table, column, value, limit=_RARE)
    if rows == _RARE and len(holders) < _FEW_CONVERSATIONS:
        holders, rows = _first_holders(table, column, value, limit=_MANY)
        return None if rows == _MANY else holders
    return None if rows == _RARE else holders


def _first_holders(table: str, column: str, value: str, *, limit: int) -> tuple[set[UUID], int]:
    """The conversations of up to `limit` rows with the value, and how many rows these are."""
    statement = (
        "SELECT conversation_id, count(*) FROM"
        " (SELECT conversation_id FROM {} WHERE {} = {} LIMIT {}) held GROUP BY 1"
    )
    names = sql.Identifier(table), sql.Identifier(column)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(*names, sql.Literal(value), sql.Literal(limit)))
        found = cursor.fetchall()
    return {row[0] for row in found}, sum(row[1] for row in found)


def last_attempts() -> QuerySet[Generation]:
    """The last attempt of the conversation that an outer query looks at: one probe of the key."""
    return Generation.objects.filter(conversation_id=OuterRef("id"), number=OuterRef("next_generation") - 1)
