"""The access log as auditors read it: its rows with names beside the ids, its filters, its export."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import batched
from typing import Any, Final

import django_filters
from django.contrib.auth.models import User
from django.db.models import Max, Q, QuerySet
from django.http import QueryDict

from access.actors import ActorKind
from access.models import AccessEntry, ApiKey, StatedReason
from access.models.log import AccessAction, TargetKind
from access.reach import Reach
from console.filtering import FilterGroup, filter_group, since_options
from conversations.filters import MomentFilter

BATCH: Final = 500
CSV_HEADER: Final = (
    *("at", "actor kind", "actor id", "actor", "action", "target kind", "target id", "realm"),
    *("conversation", "account", "ticket", "reason", "rows", "address"),
)
ACTIONS: Final = {
    AccessAction.OPEN: "Looked at",
    AccessAction.REVEAL: "Personal details shown",
    AccessAction.SEARCH_PERSON: "Searched for a person",
    AccessAction.EXPORT: "Exported",
    AccessAction.DOWNLOAD: "Downloaded",
    AccessAction.RAW: "Raw payload read",
    AccessAction.STATE_REASON: "Reason stated",
    AccessAction.CLOSE: "Closed again",
    AccessAction.JOB_START: "Job started",
    AccessAction.CHANGE: "Changed",
    AccessAction.REFUSED: "Refused",
    AccessAction.SIGN_IN: "Signed in",
    AccessAction.SIGN_OUT: "Signed out",
    AccessAction.SIGN_IN_FAILED: "Sign-in failed",
    AccessAction.API_READ: "Read through the API",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One line; `who` is empty where a sign-in failed, as nobody knows who tried."""

    entry: AccessEntry
    who: str
    target: str
    reason: StatedReason | None

    @property
    def action(self) -> str:
        return ACTIONS[AccessAction(self.entry.action)]


class AccessLogFilter(django_filters.FilterSet):
    who = django_filters.CharFilter(label="User name", method="by_who", max_length=150)
    key = django_filters.NumberFilter(label="API key", method="by_key", min_value=1)
    action = django_filters.ChoiceFilter(choices=AccessAction.choices)
    target = django_filters.ChoiceFilter(field_name="target_kind", choices=TargetKind.choices)
    since = MomentFilter(label="From", field_name="at", lookup_expr="gte")
    until = MomentFilter(label="Until", field_name="at", lookup_expr="lt")
    conversation = django_filters.UUIDFilter(label="Conversation", field_name="conversation_id")
    account = django_filters.UUIDFilter(label="Account", field_name="account_id")

    class Meta:
        model = AccessEntry
        fields: list[str] = []

    def by_who(self, queryset: QuerySet[AccessEntry], name: str, value: str) -> QuerySet[AccessEntry]:
        """What that user did, and failed sign-ins with that name."""
        user = User.objects.filter(username=value.replace("\0", "")).first()
        if user is None:
            return queryset.none()
        key = str(user.pk)
        tried = Q(actor_id="", action=AccessAction.SIGN_IN_FAILED, target_kind=TargetKind.USER, target_id=key)
        return queryset.filter(Q(actor_kind=ActorKind.STAFF, actor_id=key) | tried)

    def by_key(self, queryset: QuerySet[AccessEntry], name: str, value: Decimal) -> QuerySet[AccessEntry]:
        """What the application with this key did."""
        return queryset.filter(actor_kind=ActorKind.APPLICATION, actor_id=str(int(value)))


def listed(reach: Reach) -> QuerySet[AccessEntry]:
    """Return the lines of the realms in reach, and those of no realm: sign-ins, refusals, lists."""
    entries = AccessEntry.objects.select_related("realm")
    # Every realm is an empty condition, and “empty or of no realm” would be read as “of no realm”.
    return entries if reach.sees_all else entries.filter(reach.within("realm_id") | Q(realm=None))


def rows_of(entries: Iterable[AccessEntry]) -> list[Row]:
    """Return the rows of one page, in three more queries: names of staff and of keys, and stated reasons."""
    page = list(entries)
    names, keys = _names(page), _keys(page)
    reasons = StatedReason.objects.in_bulk({entry.reason_id for entry in page if entry.reason_id})
    return [_row(entry, names, keys, reasons.get(entry.reason_id)) for entry in page]


def newest_id(entries: QuerySet[AccessEntry]) -> int:
    """Return where an export ends: lines that are written while it runs are not in it."""
    return entries.aggregate(newest=Max("id"))["newest"] or 0


def csv_rows(entries: QuerySet[AccessEntry]) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of the export, newest first, page by page."""
    rows = entries.order_by("-at", "-id").iterator(chunk_size=BATCH)
    for batch in batched(rows, BATCH):
        yield from map(_cells, rows_of(batch))


def filter_groups(query: QueryDict, *, now: datetime) -> list[FilterGroup]:
    since = since_options(now=now)
    actions = [(action.value, words) for action, words in ACTIONS.items()]
    return [
        filter_group(query=query, name="since", title="time", options=since, every="Any time"),
        filter_group(query=query, name="action", title="action", options=actions),
        filter_group(query=query, name="target", title="target", options=TargetKind.choices),
    ]


def _names(entries: Sequence[AccessEntry]) -> dict[str, str]:
    ids = {entry.actor_id for entry in entries if entry.actor_kind == ActorKind.STAFF}
    ids |= {entry.target_id for entry in entries if entry.target_kind == TargetKind.USER}
    known = User.objects.filter(pk__in={int(key) for key in ids if key.isdecimal()})
    return {str(key): name for key, name in known.values_list("pk", "username")}


def _keys(entries: Sequence[AccessEntry]) -> dict[str, str]:
    ids = {entry.actor_id for entry in entries if entry.actor_kind == ActorKind.APPLICATION}
    wanted = {int(key) for key in ids if key.isdecimal()}
    if not wanted:
        return {}
    return {str(key.pk): str(key) for key in ApiKey.objects.filter(pk__in=wanted)}


def _row(entry: AccessEntry, names: dict[str, str], keys: dict[str, str], reason: StatedReason | None) -> Row:
    known = {ActorKind.STAFF: names, ActorKind.APPLICATION: keys}.get(ActorKind(entry.actor_kind), {})
    plain = entry.actor_id if entry.actor_kind == ActorKind.STAFF else f"{entry.actor_kind} {entry.actor_id}"
    is_user = entry.target_kind == TargetKind.USER
    target = names.get(entry.target_id, entry.target_id) if is_user else entry.target_id
    return Row(entry, who=known.get(entry.actor_id, plain).strip(), target=target, reason=reason)


def _cells(row: Row) -> tuple[Any, ...]:
    entry = row.entry
    return (
        *(entry.at, entry.actor_kind, entry.actor_id, row.who, entry.action, entry.target_kind, row.target),
        *(entry.realm.slug if entry.realm else "", entry.conversation_id, entry.account_id),
        *((row.reason.ticket, row.reason.words) if row.reason else ("", "")),
        *(entry.row_count, entry.address),
    )
