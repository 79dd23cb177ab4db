"""Holds and requests within the realms of whoever looks: staff, or an application's key."""

from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from access.reach import Reach
from conversations.models import Account, Conversation
from ledger.models import ToolEffect
from retention.models import ErasureRequest, LegalHold


def holds_within(reach: Reach) -> QuerySet[LegalHold]:
    """Return the holds on what the reach holds; what has gone since is shown to those who see all.

    The realm is asked of each hold, by key: holds are few, the conversations of a realm are not.
    """
    rows = LegalHold.objects.select_related("placed_by", "release_requested_by", "released_by")
    if reach.sees_all:
        return rows
    realm = Coalesce(
        Subquery(Account.objects.filter(pk=OuterRef("account_id")).values("realm_id")),
        Subquery(ToolEffect.objects.filter(pk=OuterRef("effect_id")).values("realm_id")),
        Subquery(Conversation.objects.filter(pk=OuterRef("conversation_id")).values("account__realm_id")),
    )
    return rows.alias(realm=realm).filter(reach.within("realm"))


def requests_within(reach: Reach) -> QuerySet[ErasureRequest]:
    return ErasureRequest.objects.filter(reach.within("realm_id")).select_related("realm", "taken_in_by")


def may_be_held(reach: Reach, *, kind: str, target: UUID) -> bool:
    """Tell whether the account, conversation or effect is one that the reach holds."""
    if kind == "account":
        return Account.objects.filter(reach.within("realm_id"), pk=target).exists()
    if kind == "conversation":
        return Conversation.objects.filter(reach.within("account__realm_id"), pk=target).exists()
    return ToolEffect.objects.filter(reach.within("realm_id"), pk=target).exists()
