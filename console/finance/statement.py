"""The statement of an account: what was taken and given back, in the order of the money, per currency."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from conversations.currency import major_text
from ledger.models import Compensation, ToolEffect
from ledger.vocabulary import CompensationState, EffectState, Operation

CSV_HEADER: Final = ("at", "what", "external id", "currency", "amount", "effect", "tool", "conversation")
# What was given back was taken before; a refund that was "given back" failed, and moved nothing.
_MOVED: Final = Q(state=EffectState.APPLIED) | (
    Q(state=EffectState.COMPENSATED) & ~Q(operation=Operation.REFUND)
)


@dataclass(frozen=True, slots=True)
class Line:
    """One movement: positive was taken from the customer, negative given back."""

    at: datetime
    what: str
    reference: str
    currency: str
    minor: int
    effect_id: UUID
    tool: str
    conversation_id: UUID


@dataclass(frozen=True, slots=True)
class Sum:
    currency: str
    taken: int
    given_back: int

    @property
    def net(self) -> int:
        return self.taken + self.given_back


def lines_of(account_id: UUID, *, since: datetime, until: datetime) -> Iterator[Line]:
    """Yield the settled movements of an account in a period, in their order, read as they are used."""
    return merge(
        _effects(account_id, since, until), _refunds(account_id, since, until), key=lambda line: line.at
    )


def sums_of(lines: list[Line]) -> list[Sum]:
    """Sum up lines per currency; currencies are never added to each other."""
    taken: dict[str, int] = {}
    back: dict[str, int] = {}
    for line in lines:
        side = taken if line.minor >= 0 else back
        side[line.currency] = side.get(line.currency, 0) + line.minor
    return [Sum(code, taken.get(code, 0), back.get(code, 0)) for code in sorted(taken.keys() | back.keys())]


def csv_rows(lines: Iterator[Line]) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        amount = major_text(line.minor, line.currency)
        yield (
            *(line.at, line.what, line.reference, line.currency.upper(), amount, line.effect_id),
            *(line.tool, line.conversation_id),
        )


def _effects(account_id: UUID, since: datetime, until: datetime) -> Iterator[Line]:
    """A tool's own refund of a charge of ours is no second line: it stands with its charge."""
    with_a_charge = Compensation.objects.filter(~Q(external_ref=""), external_ref=OuterRef("external_ref"))
    effects = ToolEffect.objects.filter(
        _MOVED,
        ~Q(operation=Operation.REFUND) | ~Exists(with_a_charge),
        account_id=account_id,
        amount_settled_minor__isnull=False,
        settled_at__gte=since,
        settled_at__lt=until,
    ).exclude(currency="")
    for effect in effects.order_by("settled_at", "id").iterator(chunk_size=500):
        sign = -1 if effect.operation == Operation.REFUND else 1
        yield Line(
            at=effect.settled_at or effect.requested_at,
            what=effect.get_operation_display(),
            reference=effect.external_ref,
            currency=effect.currency,
            minor=sign * (effect.amount_settled_minor or 0),
            effect_id=effect.pk,
            tool=effect.tool_name,
            conversation_id=effect.conversation_id,
        )


def _refunds(account_id: UUID, since: datetime, until: datetime) -> Iterator[Line]:
    refunds = Compensation.objects.filter(
        effect__account_id=account_id,
        state=CompensationState.SETTLED,
        settled_at__gte=since,
        settled_at__lt=until,
    ).select_related("effect")
    for refund in refunds.order_by("settled_at", "id").iterator(chunk_size=500):
        yield Line(
            at=refund.settled_at or refund.requested_at,
            what="Refund",
            reference=refund.external_ref,
            currency=refund.currency,
            minor=-refund.amount_minor,
            effect_id=refund.effect_id,
            tool=refund.effect.tool_name,
            conversation_id=refund.effect.conversation_id,
        )
