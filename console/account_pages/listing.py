"""The list of accounts: newest first, with when each was last active."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import django_filters
from django.db.models import F, Lookup, OuterRef, QuerySet, Subquery
from django.http import QueryDict

from access.reach import Reach
from console.filtering import FilterGroup, filter_group
from console.masking import masked_email, masked_name
from conversations.models import Account, Conversation
from conversations.search.lookup import prefix_end

_YES_NO: Final = (("false", "Open"), ("true", "Closed"))


class _AsBytes(Lookup):
    """Compares bytes, which may be asked before the policies of row security; LIKE may not."""

    comparison: str

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        left, of_left = self.process_lhs(compiler, connection)
        right, of_right = self.process_rhs(compiler, connection)
        return f"{left} {self.comparison} {right}", (*of_left, *of_right)


class _FromBytes(_AsBytes):
    comparison = "~>=~"


class _BeforeBytes(_AsBytes):
    comparison = "~<~"


class AccountFilter(django_filters.FilterSet):
    """`begins` is one range of the index of customers' ids; any number of accounts may begin alike."""

    begins = django_filters.CharFilter(method="by_beginning", max_length=255, label="Id begins with")
    realm = django_filters.CharFilter(field_name="realm__slug", max_length=64, label="Realm")
    is_closed = django_filters.BooleanFilter(field_name="closed_at", lookup_expr="isnull", exclude=True)

    class Meta:
        model = Account
        fields: list[str] = []

    def by_beginning(self, queryset: QuerySet[Account], name: str, value: str) -> QuerySet[Account]:
        identifier = F("external_id")
        return queryset.filter(_FromBytes(identifier, value), _BeforeBytes(identifier, prefix_end(value)))


@dataclass(frozen=True, slots=True)
class Row:
    account: Account
    name: str
    email: str
    last_activity_at: datetime | None


def listed(reach: Reach) -> QuerySet[Account]:
    """Return the accounts within reach, each with the time of its last activity: one probe each."""
    newest = Conversation.objects.filter(account_id=OuterRef("pk")).order_by("-last_activity_at", "-id")
    return (
        Account.objects.filter(reach.within("realm_id"))
        .select_related("realm")
        .annotate(last_activity_at=Subquery(newest.values("last_activity_at")[:1]))
    )


def rows_of(accounts: Iterable[Any]) -> list[Row]:
    return [
        Row(
            account,
            masked_name(account.label),
            masked_email(account.email) if account.email else "",
            account.last_activity_at,
        )
        for account in accounts
    ]


def filter_groups(query: QueryDict) -> list[FilterGroup]:
    return [filter_group(query=query, name="is_closed", title="state", options=_YES_NO)]
