"""Whom a request is about: their accounts, what they are called, and which conversations may go."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from uuid import UUID

from conversations.models import Conversation
from ledger.models import ToolEffect
from retention.blockers import Blocked, account_holds, blockers_of
from retention.models import ErasureRequest

# What is shorter occurs everywhere by chance; a search for it would prove nothing.
SHORTEST_SEARCHED = 5


@dataclass(frozen=True)
class Subject:
    """One person, as the steps see them. Read anew for each batch."""

    request: ErasureRequest
    now: datetime
    run_id: UUID | None
    account_ids: list[UUID]
    names: list[str] = field(default_factory=list)

    @cached_property
    def conversation_ids(self) -> list[UUID]:
        rows = Conversation.objects.filter(account_id__in=self.account_ids).order_by("pk")
        return list(rows.values_list("pk", flat=True))

    @cached_property
    def blocked(self) -> dict[UUID, list[Blocked]]:
        return blockers_of(self.conversation_ids)

    @cached_property
    def free_ids(self) -> list[UUID]:
        return [pk for pk in self.conversation_ids if pk not in self.blocked]

    @cached_property
    def effect_ids(self) -> list[UUID]:
        """Effects that are theirs, or already stand under their pseudonym: a step may be run again."""
        theirs = ToolEffect.objects.filter(account_id__in=self.account_ids)
        erased = ToolEffect.objects.filter(account_pseudonym=self.request.pseudonym)
        return list(theirs.union(erased).values_list("pk", flat=True))

    @property
    def held_accounts(self) -> dict[UUID, list[Blocked]]:
        return {pk: held for pk in self.account_ids if (held := account_holds(pk))}

    @property
    def searched_names(self) -> list[str]:
        return [name for name in self.names if len(name) >= SHORTEST_SEARCHED]


def read_subject(*, request: ErasureRequest, now: datetime, run_id: UUID | None) -> Subject:
    return Subject(
        request=request,
        now=now,
        run_id=run_id,
        account_ids=list(request.accounts.order_by("account_id").values_list("account_id", flat=True)),
        names=list(request.identifiers.exclude(value="").order_by("pk").values_list("value", flat=True)),
    )
