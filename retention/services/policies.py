"""Setting a policy: checked against every other layer, written as a new row, in force from a date."""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import connection, transaction

from access.actors import Actor, ActorKind
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from access.services.purging import log_floor_days
from conversations.models import Account
from retention.errors import PolicyError
from retention.layers import Layers, layer_of, load_layers
from retention.models import RetentionPolicy
from retention.vocabulary import ACTIONS_OF, ONLY_EVERYWHERE, DataClass, PolicyAction, PolicyScope

LONGEST = 36_500
# One setter at a time: two that are each right could contradict each other.
SETTING_POLICIES = 0x00C0_FF10


def propose_policy(
    *,
    data_class: str,
    action: str,
    days: int | None,
    effective_from: datetime,
    now: datetime,
    realm_id: int | None = None,
    account_id: UUID | None = None,
    floor_days: int | None = None,
    ceiling_days: int | None = None,
) -> RetentionPolicy:
    """Return the rule unsaved, checked against the other layers; raises PolicyError, naming the layer."""
    rule = RetentionPolicy(
        data_class=data_class,
        action=action,
        scope=_scope(realm_id=realm_id, account_id=account_id),
        realm_id=realm_id,
        account_id=account_id,
        days=days,
        floor_days=floor_days,
        ceiling_days=ceiling_days,
        effective_from=effective_from,
        set_at=now,
    )
    _refuse_unknown(rule)
    if account_id is not None:
        rule.realm_id = _realm_of(account_id)
    layers = load_layers(data_class=DataClass(data_class), now=effective_from)
    _refuse_beyond_wider(rule, layers)
    _refuse_narrower_beyond(rule, layers)
    _refuse_longer_than_content(rule)
    if rule.data_class == DataClass.ACCESS_LOG and days is not None and days < log_floor_days():
        raise PolicyError(
            "below-floor",
            f"the access log is kept for at least {log_floor_days()} days",
            place="the owner's floor",
        )
    return rule


@transaction.atomic
def set_policy(
    *, rule: RetentionPolicy, user: User, now: datetime, address: str | None = None
) -> RetentionPolicy:
    """Write a proposed rule; it is checked again, because another may have been set since."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [SETTING_POLICIES])
    checked = propose_policy(
        data_class=rule.data_class,
        action=rule.action,
        days=rule.days,
        effective_from=rule.effective_from,
        now=now,
        realm_id=rule.realm_id,
        account_id=rule.account_id,
        floor_days=rule.floor_days,
        ceiling_days=rule.ceiling_days,
    )
    checked.set_by = user
    checked.save(force_insert=True)
    log_access(
        actor=Actor(ActorKind.STAFF, str(user.pk)),
        action=AccessAction.CHANGE,
        target_kind=TargetKind.POLICY,
        target_id=str(checked.pk),
        realm_id=checked.realm_id,
        account_id=checked.account_id,
        now=now,
        address=address,
    )
    return checked


def _scope(*, realm_id: int | None, account_id: UUID | None) -> PolicyScope:
    if account_id is not None:
        return PolicyScope.ACCOUNT
    return PolicyScope.DEFAULT if realm_id is None else PolicyScope.REALM


def _realm_of(account_id: UUID) -> int:
    account = Account.objects.filter(pk=account_id).only("realm_id").first()
    if account is None:
        raise PolicyError("unknown-account", "there is no such account", place=f"account {account_id}")
    return account.realm_id


def _refuse_unknown(rule: RetentionPolicy) -> None:
    place = layer_of(rule)
    if rule.data_class not in DataClass.values:
        raise PolicyError("unknown-class", f"there is no data class {rule.data_class}", place=place)
    data_class = DataClass(rule.data_class)
    fitting = ACTIONS_OF[data_class] | {PolicyAction.KEEP}
    if rule.scope != PolicyScope.DEFAULT:
        fitting |= {PolicyAction.INHERIT}
    if rule.action not in fitting:
        raise PolicyError("unknown-action", f"{data_class.label} cannot be set to {rule.action}", place=place)
    if data_class in ONLY_EVERYWHERE and rule.scope != PolicyScope.DEFAULT:
        raise PolicyError("only-everywhere", f"{data_class.label}: nobody's own, set everywhere", place=place)
    needs_days = rule.action in ACTIONS_OF[data_class]
    if needs_days != (rule.days is not None):
        raise PolicyError("days", "an action needs its days, keeping has none", place=place)
    for days in (rule.days, rule.floor_days, rule.ceiling_days):
        if days is not None and not 1 <= days <= LONGEST:
            raise PolicyError("days", f"days are from 1 to {LONGEST:,}, not {days}", place=place)
    if rule.scope == PolicyScope.ACCOUNT and (rule.floor_days or rule.ceiling_days):
        raise PolicyError("bounds", "an account bounds nobody", place=place)
    _refuse_outside(rule, bounds=rule)
    if rule.effective_from < rule.set_at:
        raise PolicyError("too-early", "a change cannot begin before it is made", place=place)


def _refuse_beyond_wider(rule: RetentionPolicy, layers: Layers) -> None:
    if rule.scope == PolicyScope.DEFAULT or rule.action == PolicyAction.INHERIT:
        return
    _refuse_outside(rule, bounds=layers.default)
    if rule.scope == PolicyScope.ACCOUNT and rule.realm_id in layers.realms:
        _refuse_outside(rule, bounds=layers.realms[rule.realm_id])


def _refuse_narrower_beyond(rule: RetentionPolicy, layers: Layers) -> None:
    """A new bound may not make wrong what a narrower layer has set, now or from a later date."""
    if rule.floor_days is None and rule.ceiling_days is None:
        return
    later = RetentionPolicy.objects.filter(
        data_class=rule.data_class, effective_from__gt=rule.effective_from
    ).exclude(action=PolicyAction.INHERIT)
    for other in [*layers.every(), *later]:
        is_narrower = (rule.scope == PolicyScope.DEFAULT and other.scope != PolicyScope.DEFAULT) or (
            rule.scope == PolicyScope.REALM
            and other.scope == PolicyScope.ACCOUNT
            and other.realm_id == rule.realm_id
        )
        if is_narrower:
            _refuse_outside(other, bounds=rule)


def _refuse_outside(rule: RetentionPolicy, *, bounds: RetentionPolicy) -> None:
    days = rule.days
    if bounds.floor_days is not None and days is not None and days < bounds.floor_days:
        raise PolicyError(
            "below-floor",
            f"{days} days for {layer_of(rule)} are fewer than the floor of {bounds.floor_days}",
            place=layer_of(bounds),
        )
    if bounds.ceiling_days is not None and (days is None or days > bounds.ceiling_days):
        said = "keeping" if days is None else f"{days} days"
        raise PolicyError(
            "above-ceiling",
            f"{said} for {layer_of(rule)} is more than the ceiling of {bounds.ceiling_days}",
            place=layer_of(bounds),
        )


def _refuse_longer_than_content(rule: RetentionPolicy) -> None:
    """Detail of attempts goes with its conversation at the latest; a longer setting would promise more."""
    if rule.data_class != DataClass.GENERATION_DETAIL or rule.action == PolicyAction.INHERIT:
        return
    layers = load_layers(data_class=DataClass.CONVERSATION, now=rule.effective_from)
    content = layers.for_account(account_id=rule.account_id, realm_id=rule.realm_id)
    if content.days is not None and (rule.days is None or rule.days > content.days):
        raise PolicyError(
            "longer-than-content",
            f"conversations go after {content.days} days, the detail of their attempts with them",
            place=f"conversations, {content.layer}",
        )
