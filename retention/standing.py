"""Where a conversation stands: which policies apply to it, what goes next and when, and why not yet."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from conversations.models import Conversation
from retention.blockers import ROWS_ONLY, Blocked, blockers_of
from retention.layers import Effective, layers_from
from retention.models import RetentionPolicy
from retention.vocabulary import DataClass, PolicyAction

_OF_A_CONVERSATION = (
    DataClass.CONVERSATION,
    DataClass.CONVERSATION_BYTES,
    DataClass.TOOL_PAYLOADS,
    DataClass.ABANDONED_BRANCHES,
    DataClass.GENERATION_DETAIL,
    DataClass.RAW_BODIES,
)


@dataclass(frozen=True, slots=True)
class Due:
    """What one policy means for this conversation."""

    data_class: DataClass
    effective: Effective
    due_at: datetime | None


@dataclass(frozen=True, slots=True)
class Standing:
    conversation_id: UUID
    policies: list[Due]
    blockers: list[Blocked]

    @property
    def next(self) -> Due | None:
        """Return what goes first, or None where everything is kept."""
        dated = [(due.due_at, place) for place, due in enumerate(self.policies) if due.due_at is not None]
        return self.policies[min(dated)[1]] if dated else None

    @property
    def goes_at(self) -> datetime | None:
        """When the conversation itself is due."""
        return next(due.due_at for due in self.policies if due.data_class == DataClass.CONVERSATION)

    def is_blocked(self, data_class: DataClass) -> bool:
        takes_rows = data_class in (DataClass.CONVERSATION, DataClass.ABANDONED_BRANCHES)
        return any(takes_rows or blocker.kind not in ROWS_ONLY for blocker in self.blockers)


def standing_of(
    *, conversation_id: UUID, now: datetime, conversation: Conversation | None = None
) -> Standing:
    """Return the policies in force, the moments they lead to, and what stands against them.

    The clock runs from the last activity, or from the closing of the account where that was earlier.
    Two queries, and a third where the conversation is not handed over with its account.
    """
    conversation = conversation or Conversation.objects.select_related("account").get(pk=conversation_id)
    account = conversation.account
    began = conversation.last_activity_at
    if account.closed_at is not None:
        began = min(began, account.closed_at)
    rules: dict[str, list[RetentionPolicy]] = {}
    in_force = (
        RetentionPolicy.objects.filter(data_class__in=_OF_A_CONVERSATION, effective_from__lte=now)
        .order_by("data_class", "scope", "realm_id", "account_id", "-effective_from", "-id")
        .distinct("data_class", "scope", "realm_id", "account_id")
    )
    for rule in in_force:
        rules.setdefault(rule.data_class, []).append(rule)
    policies = []
    for data_class in _OF_A_CONVERSATION:
        layers = layers_from(rules[data_class])
        effective = layers.for_account(account_id=account.pk, realm_id=account.realm_id)
        policies.append(Due(data_class, effective, _due_at(effective, began)))
    return Standing(conversation_id, policies, blockers_of([conversation_id]).get(conversation_id, []))


def _due_at(effective: Effective, began: datetime) -> datetime | None:
    if effective.days is None or effective.action == PolicyAction.KEEP:
        return None
    return began + timedelta(days=effective.days)
