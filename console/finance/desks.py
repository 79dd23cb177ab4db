"""The lists beside the effects: refunds, questions of the guard, events of processors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import django_filters
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, filter_group, since_options
from console.finance.chain import names_of
from console.titles import titles_for
from conversations.filters import MomentFilter
from conversations.models import Conversation
from ledger.models import Compensation, GuardQuestion, WebhookEvent
from ledger.vocabulary import CompensationOrigin, CompensationState, GuardReason

WHY_ASKED: Final = {
    GuardReason.SAME_ARGUMENTS: "Another call of this conversation did the same, with the same arguments.",
    GuardReason.SAME_SCOPE: "An equal call shares this one's key.",
    GuardReason.EARLIER_UNKNOWN: "An equal call was sent, and its answer is not known.",
    GuardReason.KEY_EXPIRED: "The processor no longer remembers the key; sending again could do it twice.",
    GuardReason.NEVER_AGAIN: "The tool is never to be run again by itself.",
    GuardReason.UNREGISTERED: "The tool is not registered, so it counts as one that touches the world.",
}
TROUBLES: Final = {
    "unmatched": "No effect knows what it is about: made outside, or heard of too early.",
    "processor_unreachable": "The processor has to be asked first and did not answer; tried again by itself.",
    "processor_not_told": (
        "The processor knows nothing of it under the API key that is set. Check whose key it is, then work"
        " on the event again."
    ),
    "raw_is_gone": "Its text was taken away by retention, so it cannot be worked on again.",
}
_LONGEST_ID: Final = 255
_ANSWERED: Final = (("false", "Waits for an answer"), ("true", "Answered"))


class RefundFilter(django_filters.FilterSet):
    state = django_filters.ChoiceFilter(choices=CompensationState.choices)
    origin = django_filters.ChoiceFilter(choices=CompensationOrigin.choices)

    class Meta:
        model = Compensation
        fields: list[str] = []


class QuestionFilter(django_filters.FilterSet):
    is_answered = django_filters.BooleanFilter(field_name="is_allowed", lookup_expr="isnull", exclude=True)

    class Meta:
        model = GuardQuestion
        fields: list[str] = []


class EventFilter(django_filters.FilterSet):
    has_trouble = django_filters.BooleanFilter(method="by_trouble")
    is_waiting = django_filters.BooleanFilter(field_name="processed_at", lookup_expr="isnull")
    type = django_filters.CharFilter(max_length=128, label="Type")
    event_id = django_filters.CharFilter(max_length=_LONGEST_ID)
    received_since = MomentFilter(field_name="received_at", lookup_expr="gte")

    class Meta:
        model = WebhookEvent
        fields: list[str] = []

    def by_trouble(self, queryset: QuerySet[WebhookEvent], name: str, value: bool) -> QuerySet[WebhookEvent]:
        return queryset.exclude(trouble="") if value else queryset.filter(trouble="")


@dataclass(frozen=True, slots=True)
class RefundRow:
    compensation: Compensation
    asked_by: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class QuestionRow:
    question: GuardQuestion
    title: str
    answered_by: str

    @property
    def why(self) -> str:
        return WHY_ASKED.get(GuardReason(self.question.reason), "")


@dataclass(frozen=True, slots=True)
class EventRow:
    event: WebhookEvent

    @property
    def explained(self) -> str:
        return TROUBLES.get(self.event.trouble, "")


def refunds(reach: Reach) -> QuerySet[Compensation]:
    return Compensation.objects.filter(reach.within("effect__realm_id")).select_related(
        "effect__account", "effect__realm"
    )


def refund_rows(found: Sequence[Compensation]) -> list[RefundRow]:
    names = names_of({pk for row in found for pk in (row.requested_by_id, row.decided_by_id)})
    return [
        RefundRow(
            row, names.get(row.requested_by_id, "The processor's side"), names.get(row.decided_by_id, "")
        )
        for row in found
    ]


def questions(reach: Reach) -> QuerySet[GuardQuestion]:
    return GuardQuestion.objects.filter(reach.within("realm_id")).select_related("earlier_effect")


def question_rows(found: Sequence[GuardQuestion], *, user: User, now: datetime) -> list[QuestionRow]:
    """Return the rows of a page with the titles that `user` may read; three queries."""
    names = names_of({row.answered_by_id for row in found})
    ids = {row.conversation_id for row in found}
    readable = titles_for(user=user, ids=ids, now=now)
    titles = {asked.pk: readable.in_list(asked) for asked in Conversation.objects.filter(pk__in=ids)}
    return [
        QuestionRow(row, titles.get(row.conversation_id, ""), names.get(row.answered_by_id, ""))
        for row in found
    ]


def refund_groups(query: QueryDict) -> list[FilterGroup]:
    return [
        filter_group(query=query, name="state", title="state", options=CompensationState.choices),
        filter_group(query=query, name="origin", title="origin", options=CompensationOrigin.choices),
    ]


def question_groups(query: QueryDict) -> list[FilterGroup]:
    return [filter_group(query=query, name="is_answered", title="answer", options=_ANSWERED)]


def event_groups(query: QueryDict, *, now: datetime) -> list[FilterGroup]:
    yes_no = (("true", "In trouble"), ("false", "No trouble"))
    waiting = (("true", "Not worked on yet"), ("false", "Worked on"))
    groups = [
        filter_group(query=query, name="has_trouble", title="trouble", options=yes_no),
        filter_group(query=query, name="is_waiting", title="work", options=waiting),
        filter_group(query=query, name="received_since", title="time", options=since_options(now=now)),
    ]
    if event_id := query.get("event_id", "")[:_LONGEST_ID]:
        # Where the search box leads; the way back to the others is to lift it.
        groups.append(
            filter_group(query=query, name="event_id", title="event", options=[(event_id, event_id)])
        )
    return groups
