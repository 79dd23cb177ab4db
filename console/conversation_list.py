"""The list of conversations: its rows with what stands beside each, and its filters."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import JSONObject
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, filter_group, since_options
from console.masking import masked_name
from console.states import effect_state
from console.titles import Titles
from conversations.filters import last_attempts
from conversations.models import Conversation
from conversations.vocabulary import GenerationStatus, Source
from ledger.models import ToolEffect

CSV_HEADER: Final = (
    *("conversation", "realm", "account", "source", "messages", "last attempt", "model", "forked"),
    *("replayable", "effects", "started", "last activity"),
)
_YES_NO: Final = (("true", "Yes"), ("false", "No"))
_LAST_STATUSES: Final = tuple(
    (status.value, status.label) for status in GenerationStatus if status != GenerationStatus.QUEUED
)


@dataclass(frozen=True, slots=True)
class Row:
    """One conversation of the list; what names a person is masked already."""

    conversation: Conversation
    title: str
    customer: str
    status: str
    model: str
    effects: tuple[str, ...]

    @property
    def messages(self) -> int:
        """How many were ever written: read off the counter, so a purged branch still counts."""
        return self.conversation.next_seq - 1


def listed(reach: Reach) -> QuerySet[Conversation]:
    """Return the conversations that `reach` holds, each with its account and its last attempt."""
    last = last_attempts().values(
        found=JSONObject(status="status", requested="requested_model", served="served_model")
    )
    return (
        Conversation.objects.filter(reach.within("account__realm_id"))
        .select_related("account__realm")
        .annotate(last_attempt=last)
    )


def rows_of(
    conversations: Iterable[Conversation], *, sees_effects: bool, titles: Titles | None = None
) -> list[Row]:
    """Return the rows of one page; effects of all of them are read in one query."""
    page, titles = list(conversations), titles or Titles()
    effects = _effects([conversation.id for conversation in page]) if sees_effects else {}
    return [
        _row(conversation, titles.in_list(conversation), effects.get(conversation.id, ()))
        for conversation in page
    ]


def csv_rows(conversations: QuerySet[Conversation], *, sees_effects: bool) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of the export, page by page."""
    rows = conversations.order_by("-last_activity_at", "-id").iterator(chunk_size=500)
    for batch in batched(rows, 500):
        yield from map(_cells, rows_of(batch, sees_effects=sees_effects))


def filter_groups(query: QueryDict, *, now: datetime) -> list[FilterGroup]:
    since = since_options(now=now)
    return [
        filter_group(
            query=query, name="active_since", title="last activity", options=since, every="Any time"
        ),
        filter_group(query=query, name="status", title="last attempt", options=_LAST_STATUSES),
        filter_group(
            query=query, name="has_effect", title="effects", options=_YES_NO, every="With or without"
        ),
        filter_group(query=query, name="has_fork", title="forks", options=_YES_NO, every="With or without"),
        filter_group(query=query, name="source", title="source", options=Source.choices),
        filter_group(
            query=query,
            name="is_replayable",
            title="replay",
            options=(("true", "As it ran"), ("false", "Not as it ran")),
        ),
        filter_group(
            query=query,
            name="quarantined_since",
            title="quarantined nodes",
            options=since[1:],
            every="With or without",
        ),
    ]


def _effects(conversation_ids: list[UUID]) -> dict[UUID, tuple[str, ...]]:
    found: dict[UUID, list[str]] = {}
    rows = ToolEffect.objects.filter(conversation_id__in=conversation_ids).only(
        "conversation_id", "state", "sent_at"
    )
    for effect in rows.order_by("requested_at"):
        found.setdefault(effect.conversation_id, []).append(effect_state(effect))
    return {key: tuple(dict.fromkeys(states)) for key, states in found.items()}


def _row(conversation: Conversation, title: str, effects: tuple[str, ...]) -> Row:
    last: dict[str, str] = getattr(conversation, "last_attempt", None) or {}
    account = conversation.account
    return Row(
        conversation=conversation,
        title=title,
        customer=masked_name(account.label),
        status=last.get("status", ""),
        model=last.get("served") or last.get("requested", ""),
        effects=effects,
    )


def _cells(row: Row) -> tuple[Any, ...]:
    conversation = row.conversation
    return (
        *(conversation.id, conversation.account.realm.slug, conversation.account.external_id),
        *(conversation.source, row.messages, row.status, row.model, conversation.has_fork),
        *(not conversation.replay_obstacle, ", ".join(row.effects), conversation.started_at),
        conversation.last_activity_at,
    )
