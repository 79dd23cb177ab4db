"""Holds and requests within the realms of whoever looks: staff, or an application's key."""

from uuid import UUID

from django.db.models import Q, QuerySet

from access.reach import Reach
from conversations.models import Account, Conversation
from ledger.models import ToolEffect
from retention.models import ErasureRequest, LegalHold


def holds_within(reach: Reach) -> QuerySet[LegalHold]:
    """Return the holds on what the reach holds; what has gone since is shown to those who see all."""
    rows = LegalHold.objects.select_related("placed_by", "release_requested_by", "released_by")
    if reach.sees_all:
        return rows
    accounts = Account.objects.filter(reach.within("realm_id")).values("pk")
    conversations = Conversation.objects.filter(reach.within("account__realm_id")).values("pk")
    effects = ToolEffect.objects.filter(reach.within("realm_id")).values("pk")
    return rows.filter(
        Q(account_id__in=accounts) | Q(conversation_id__in=conversations) | Q(effect_id__in=effects)
    )


def requests_within(reach: Reach) -> QuerySet[ErasureRequest]:
    return ErasureRequest.objects.filter(reach.within("realm_id")).select_related("realm", "taken_in_by")


def may_be_held(reach: Reach, *, kind: str, target: UUID) -> bool:
    """Tell whether the account, conversation or effect is one that the reach holds."""
    if kind == "account":
        return Account.objects.filter(reach.within("realm_id"), pk=target).exists()
    if kind == "conversation":
        return Conversation.objects.filter(reach.within("account__realm_id"), pk=target).exists()
    return ToolEffect.objects.filter(reach.within("realm_id"), pk=target).exists()
