"""One account at a glance: its conversations, what it cost, what tools did for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum

from access.permissions import holds
from access.rights import RightName
from console.titles import titles_for
from conversations.models import Account, Conversation, Generation
from conversations.vocabulary import CostConfidence
from ledger.models import ToolEffect
from ledger.querysets import Total, standings, totals
from ledger.vocabulary import Standing

MOST: Final = 10
_RECENT: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Spend:
    """US dollars, exact; `unknown` attempts have no price and are in no sum."""

    attempts: int
    cost: Decimal
    recent: Decimal
    unknown: int


@dataclass(frozen=True, slots=True)
class ListedEffect:
    effect: ToolEffect
    standing: Standing


@dataclass(frozen=True, slots=True)
class TitledConversation:
    """A conversation with the title that whoever looks may read."""

    conversation: Conversation
    title: str


@dataclass(frozen=True, slots=True)
class Overview:
    conversations: Sequence[TitledConversation]
    has_more_conversations: bool
    spend: Spend | None = None
    totals: list[Total] = field(default_factory=list)
    effects: list[ListedEffect] = field(default_factory=list)


def read_overview(*, account: Account, user: User, now: datetime) -> Overview:
    """Return what the page shows to `user`; six queries at most, however much the account did."""
    sees_costs, sees_effects = holds(user, RightName.READ_COSTS), holds(user, RightName.READ_EFFECTS)
    conversations = list(
        Conversation.objects.filter(account=account).order_by("-last_activity_at", "-id")[: MOST + 1]
    )
    titles = titles_for(user=user, ids={conversation.pk for conversation in conversations}, now=now)
    effects = ToolEffect.objects.filter(account=account)
    return Overview(
        conversations=[TitledConversation(found, titles.in_list(found)) for found in conversations[:MOST]],
        has_more_conversations=len(conversations) > MOST,
        spend=_spend(account.pk, now) if sees_costs else None,
        totals=totals(effects) if sees_effects else [],
        effects=_effects(account) if sees_effects else [],
    )


def _spend(account_id: UUID, now: datetime) -> Spend:
    attempts = Generation.objects.filter(conversation__account_id=account_id)
    sums = attempts.aggregate(
        attempts=Count("number"),
        cost=Sum("cost_usd"),
        recent=Sum("cost_usd", filter=Q(created_at__gte=now - _RECENT)),
        unknown=Count("number", filter=Q(cost_confidence=CostConfidence.UNKNOWN)),
    )
    return Spend(sums["attempts"], sums["cost"] or Decimal(0), sums["recent"] or Decimal(0), sums["unknown"])


def _effects(account: Account) -> list[ListedEffect]:
    newest = list(ToolEffect.objects.filter(account=account).order_by("-requested_at")[:MOST])
    where = standings(newest)
    return [ListedEffect(effect, where[effect.pk]) for effect in newest]
