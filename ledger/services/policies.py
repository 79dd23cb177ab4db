"""The tool registry: what a tool may do, edited by those allowed, each change logged."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from access.models import Realm
from conversations.errors import StoreError
from ledger.models import ToolPolicy, ToolPolicyChange
from ledger.services.rules import check_rule
from ledger.vocabulary import AmountUnit, Effectful, KeyScope, Operation, ReplayPolicy

EDITABLE = (
    "effectful",
    "rule",
    "replay_policy",
    "key_scope",
    "operation",
    "processor",
    "amount_path",
    "amount_unit",
    "currency_path",
)
_CHOICES = {
    "effectful": Effectful,
    "replay_policy": ReplayPolicy,
    "key_scope": KeyScope,
    "operation": Operation,
    "amount_unit": AmountUnit,
}


def find_policy(*, realm_id: int, tool_name: str) -> ToolPolicy | None:
    return ToolPolicy.objects.filter(realm_id=realm_id, name=tool_name).first()


@transaction.atomic
def save_policy(*, realm: Realm, name: str, user: User, now: datetime, **values: Any) -> ToolPolicy:
    """Register a tool, or change what is known of it; the change is logged with both sets of values.

    Values that are not given stay. Where nothing changes, nothing is logged.
    """
    # Of two who register the same tool at once, the second one changes what the first has written.
    Realm.objects.select_for_update(no_key=True).get(pk=realm.pk)
    policy = ToolPolicy.objects.filter(realm=realm, name=name).first()
    before = None if policy is None else values_of(policy)
    policy = policy or _unregistered(realm=realm, name=name)
    for field, value in values.items():
        if field not in EDITABLE:
            raise StoreError("policy-field-unknown", f"a tool policy has no {field}", place=name)
        setattr(policy, field, value)
    _check(policy)
    after = values_of(policy)
    if before == after:
        return policy
    policy.updated_at = now
    policy.save()
    ToolPolicyChange.objects.create(
        policy=policy, changed_by=user, changed_at=now, before=before, after=after
    )
    return policy


def values_of(policy: ToolPolicy) -> dict[str, Any]:
    """Return what the log keeps of a policy."""
    return {field: getattr(policy, field) for field in EDITABLE}


def _unregistered(*, realm: Realm, name: str) -> ToolPolicy:
    """What counts for a tool that nobody registered: it touches the world, and a re-run asks."""
    return ToolPolicy(
        realm=realm,
        name=name,
        effectful=Effectful.YES,
        replay_policy=ReplayPolicy.ASK,
        key_scope=KeyScope.BRANCH_ROOT,
        operation=Operation.CHARGE,
    )


def _check(policy: ToolPolicy) -> None:
    for field, choices in _CHOICES.items():
        if getattr(policy, field) not in choices.values:
            known = ", ".join(choices.values)
            raise StoreError("policy-value-unknown", f"{field} is one of {known}", place=policy.name)
    if policy.effectful == Effectful.BY_RULE:
        check_rule(policy.rule)
    elif policy.rule:
        raise StoreError(
            "rule-unused", "a rule counts only for a tool that is effectful by rule", place=policy.name
        )
    if policy.effectful == Effectful.NO and policy.replay_policy in (ReplayPolicy.ASK, ReplayPolicy.NEVER):
        raise StoreError(
            "policy-contradicts-itself", "a tool without effect may always be re-run", place=policy.name
        )
    if policy.effectful != Effectful.NO and not policy.processor:
        raise StoreError(
            "policy-without-processor",
            "name the processor of a tool that touches the world: “stripe”, or a word of your own",
            place=policy.name,
        )


def changes_of(policy: ToolPolicy) -> list[tuple[ToolPolicyChange, Mapping[str, tuple[Any, Any]]]]:
    """Return the log of a policy, newest first, each with what changed: field → (before, after)."""
    log = policy.changes.select_related("changed_by").order_by("-id")
    return [(change, _changed(change.before or {}, change.after)) for change in log]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {field: (before.get(field), value) for field, value in after.items() if before.get(field) != value}
