"""The rules in force, layer by layer: the narrowest one that says something decides.

There are few rules, so a job reads them once and hands them to its query as
arrays; no query asks a rule per row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from retention.models import RetentionPolicy
from retention.vocabulary import DataClass, PolicyAction, PolicyScope

# In the arrays that a query joins: this layer keeps, whatever a wider one says.
KEPT = -1


@dataclass(frozen=True, slots=True)
class Effective:
    """What applies to one account, and which layer said so."""

    action: PolicyAction
    days: int | None
    rule: RetentionPolicy

    @property
    def layer(self) -> str:
        return layer_of(self.rule)


@dataclass(frozen=True, slots=True)
class Layers:
    """The rules of one data class that are in force at one moment, one for each layer that has one."""

    default: RetentionPolicy
    realms: dict[int, RetentionPolicy] = field(default_factory=dict)
    accounts: dict[UUID, RetentionPolicy] = field(default_factory=dict)

    def for_account(self, *, account_id: UUID | None, realm_id: int | None) -> Effective:
        rule = self.default
        if realm_id in self.realms:
            rule = self.realms[realm_id]
        if account_id in self.accounts:
            rule = self.accounts[account_id]
        return Effective(PolicyAction(rule.action), rule.days, rule)

    def every(self) -> list[RetentionPolicy]:
        return [self.default, *self.realms.values(), *self.accounts.values()]

    def shortest(self, action: PolicyAction) -> int | None:
        """Return the fewest days after which anything of the class is due, or None: a bound for an index."""
        days = [rule.days for rule in self.every() if rule.action == action and rule.days is not None]
        return min(days, default=None)

    def arrays(self, action: PolicyAction) -> list[Any]:
        """Return what DAYS_JOIN needs: accounts and realms with their days, where `action` is theirs."""
        return [
            list(self.accounts),
            [_days(rule, action) for rule in self.accounts.values()],
            list(self.realms),
            [_days(rule, action) for rule in self.realms.values()],
        ]

    def default_days(self, action: PolicyAction) -> int:
        return _days(self.default, action)


# Joins account `a` to its days; NULL days are never due.
DAYS_JOIN = """
LEFT JOIN unnest(%s::uuid[], %s::int[]) AS by_account (id, days) ON by_account.id = a.id
LEFT JOIN unnest(%s::int[], %s::int[]) AS by_realm (id, days) ON by_realm.id = a.realm_id
"""
DAYS = f"nullif(coalesce(by_account.days, by_realm.days, %s), {KEPT})"


def load_layers(*, data_class: DataClass, now: datetime) -> Layers:
    """Return the rules of the class in force at `now`; one query."""
    newest = (
        RetentionPolicy.objects.filter(data_class=data_class, effective_from__lte=now)
        .order_by("scope", "realm_id", "account_id", "-effective_from", "-id")
        .distinct("scope", "realm_id", "account_id")
    )
    return layers_from(list(newest))


def layers_from(rules: Sequence[RetentionPolicy]) -> Layers:
    speaking = [rule for rule in rules if rule.action != PolicyAction.INHERIT]
    return Layers(
        default=next(rule for rule in speaking if rule.scope == PolicyScope.DEFAULT),
        realms={
            rule.realm_id: rule for rule in speaking if rule.scope == PolicyScope.REALM and rule.realm_id
        },
        accounts={
            rule.account_id: rule
            for rule in speaking
            if rule.scope == PolicyScope.ACCOUNT and rule.account_id
        },
    )


def layer_of(rule: RetentionPolicy) -> str:
    """Name the layer as a refusal and a page name it."""
    if rule.scope == PolicyScope.DEFAULT:
        return "everywhere"
    if rule.scope == PolicyScope.REALM:
        return f"realm {rule.realm_id}"
    return f"account {rule.account_id}"


def _days(rule: RetentionPolicy, action: PolicyAction) -> int:
    return rule.days if rule.action == action and rule.days is not None else KEPT
