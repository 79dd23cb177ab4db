"""The list of effects: its filters, its rows with where each stands, its sums and its CSV."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, Final

import django_filters
from django.db.models import QuerySet
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, days_back, filter_group, since_options, stamp
from console.states import effect_state
from conversations.currency import major_text
from ledger import filters
from ledger.models import ToolEffect
from ledger.querysets import standings
from ledger.vocabulary import EffectState, Standing

UNKNOWN: Final = "unknown"
_STATES: Final = (
    ("pending", "Pending, not sent"),
    (UNKNOWN, "Sent, answer unknown"),
    ("applied", "Applied"),
    ("failed", "Failed"),
    ("compensated", "Compensated"),
)
_OLDER: Final = ((7, "More than 7 days"), (30, "More than 30 days"))
CSV_HEADER: Final = (
    *("effect", "realm", "account", "conversation", "tool", "operation", "processor", "external id", "state"),
    *("standing", "currency", "amount", "settled", "given back", "requested", "sent", "settled at"),
)
_CSV_BATCH: Final = 500


class EffectFilter(filters.EffectFilter):
    """The ledger's own filters, and states as people tell them apart."""

    state = django_filters.ChoiceFilter(choices=_STATES, method="by_state")
    realm = django_filters.CharFilter(field_name="realm__slug", max_length=64, label="Realm")

    def by_state(self, queryset: QuerySet[ToolEffect], name: str, value: str) -> QuerySet[ToolEffect]:
        """Pending and sent is "unknown" to people: the two are never one list."""
        if value in (UNKNOWN, EffectState.PENDING):
            return queryset.filter(state=EffectState.PENDING, sent_at__isnull=value != UNKNOWN)
        return queryset.filter(state=value)


@dataclass(frozen=True, slots=True)
class Row:
    effect: ToolEffect
    state: str
    standing: str
    account: str

    @property
    def minor(self) -> int | None:
        """What moved, or else what was asked for."""
        settled = self.effect.amount_settled_minor
        return self.effect.amount_minor if settled is None else settled


def listed(reach: Reach) -> QuerySet[ToolEffect]:
    return ToolEffect.objects.filter(reach.within("realm_id")).select_related("account", "realm")


def rows_of(effects: Sequence[ToolEffect]) -> list[Row]:
    """Return rows with where each effect stands now; one query for all of them."""
    where = standings(effects)
    return [Row(effect, effect_state(effect), where[effect.pk].value, _account(effect)) for effect in effects]


def csv_rows(effects: QuerySet[ToolEffect]) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of the export, newest first, a batch at a time."""
    rows = effects.order_by("-requested_at", "-id").iterator(chunk_size=_CSV_BATCH)
    for batch in batched(rows, _CSV_BATCH):
        yield from map(_cells, rows_of(batch))


def filter_groups(query: QueryDict, *, now: datetime) -> list[FilterGroup]:
    since = since_options(now=now)
    until = [(stamp(days_back(days + 1, now=now)), label) for days, label in _OLDER]
    disputes = (("true", "Open dispute"), ("false", "No open dispute"))
    return [
        filter_group(query=query, name="state", title="state", options=_STATES),
        filter_group(query=query, name="standing", title="standing", options=Standing.choices),
        filter_group(query=query, name="since", title="time", options=since, every="Any time"),
        filter_group(query=query, name="until", title="age", options=until, every="Any age"),
        filter_group(query=query, name="is_disputed", title="dispute", options=disputes),
    ]


def _account(effect: ToolEffect) -> str:
    return effect.account.external_id if effect.account else effect.account_pseudonym


def _cells(row: Row) -> Iterable[Any]:
    effect = row.effect
    return (
        *(effect.id, effect.realm.slug, row.account, effect.conversation_id, effect.tool_name),
        *(
            effect.operation,
            effect.processor,
            effect.external_ref,
            row.state,
            row.standing,
            effect.currency.upper(),
        ),
        *(_major(effect.amount_minor, effect), _major(effect.amount_settled_minor, effect)),
        *(_major(effect.amount_compensated_minor, effect), effect.requested_at, effect.sent_at),
        effect.settled_at,
    )


def _major(minor: int | None, effect: ToolEffect) -> str | None:
    return None if minor is None or not effect.currency else major_text(minor, effect.currency)
