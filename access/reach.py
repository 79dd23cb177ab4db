"""Whose accounts a member of staff sees. Every list and every page of a customer asks here first."""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q

from access.models import StaffMember


@dataclass(frozen=True, slots=True)
class Reach:
    """Every realm, or those named. Nobody sees any without being given it."""

    sees_all: bool = False
    realm_ids: frozenset[int] = frozenset()

    def holds(self, realm_id: int) -> bool:
        return self.sees_all or realm_id in self.realm_ids

    @property
    def spans_realms(self) -> bool:
        """Whether what is listed may be of more than one realm, so that each row has to name its own."""
        return self.sees_all or len(self.realm_ids) > 1

    def within(self, path: str) -> Q:
        """Return the condition that keeps a query inside this reach; `path` leads to the realm's id."""
        return Q() if self.sees_all else Q(**{f"{path}__in": self.realm_ids})


def reach_of(user: User | AnonymousUser) -> Reach:
    """Return what `user` reaches, in one query."""
    if user.pk is None:
        return Reach()
    row = (
        StaffMember.objects.filter(user_id=user.pk)
        .values(
            "sees_all_realms",
            realm_ids=ArrayAgg("realms__realm_id", filter=Q(realms__isnull=False), default=[]),
        )
        .first()
    )
    if row is None:
        return Reach()
    return Reach(row["sees_all_realms"], frozenset(row["realm_ids"]))
