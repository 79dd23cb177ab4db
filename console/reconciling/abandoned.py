"""Abandoned charges: the standing list, with what each left, who moved the head, and what followed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import batched
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Sum
from django.urls import reverse

from access.actors import ActorKind
from access.reach import Reach
from console.finance.chain import names_of
from conversations.currency import major_text
from conversations.models import Conversation, HeadMove
from ledger.models import ToolEffect
from ledger.querysets import abandoned
from ledger.reconciliation.paths import Place, on_paths
from ledger.vocabulary import EffectState, Operation

CSV_HEADER: Final = (
    *("effect", "realm", "account", "conversation", "message", "tool", "processor's id", "currency"),
    *("settled", "given back", "left", "charged", "head moved", "moved by", "charged again", "operation"),
)
AGES: Final = (("day", "Up to a day", 1), ("week", "Up to a week", 7), ("month", "Up to 30 days", 30))
OLDER: Final = ("older", "Older")
_MOVES_LOOKED_AT: Final = 20
_BATCH: Final = 200


@dataclass(slots=True)
class Band:
    """Abandoned effects of one age: how many, and what was left of the charges in each currency."""

    label: str
    number: int = 0
    amounts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Row:
    """One abandoned charge. `left_at` is the move that left it; `again` what the live branch charged."""

    effect: ToolEffect
    left_at: HeadMove | None
    moved_by: str
    again: Sequence[ToolEffect]
    compare_url: str

    @property
    def is_charge(self) -> bool:
        return self.effect.operation == Operation.CHARGE

    @property
    def left_minor(self) -> int:
        return (self.effect.amount_settled_minor or 0) - self.effect.amount_compensated_minor


def listed(reach: Reach) -> QuerySet[ToolEffect]:
    """Return applied effects that no call on a live path has made or used."""
    return abandoned(ToolEffect.objects.filter(reach.within("realm_id"))).select_related("account", "realm")


def bands(effects: QuerySet[ToolEffect], *, now: datetime) -> list[Band]:
    """Sum up by age and currency, in one query.

    A refund that a tool made on such a branch is one of them; its money is no charge's.
    """
    edges = [now - timedelta(days=days) for _, _, days in AGES]
    conditions = [
        Q(settled_at__gt=edges[0]),
        Q(settled_at__lte=edges[0], settled_at__gt=edges[1]),
        Q(settled_at__lte=edges[1], settled_at__gt=edges[2]),
        Q(settled_at__lte=edges[2]),
    ]
    left = F("amount_settled_minor") - F("amount_compensated_minor")
    asked: dict[str, Any] = {}
    for place, condition in enumerate(conditions):
        asked[f"number_{place}"] = Count("pk", filter=condition)
        asked[f"left_{place}"] = Sum(left, filter=condition & Q(operation=Operation.CHARGE))
    found = [Band(label) for label in (*(label for _, label, _ in AGES), OLDER[1])]
    sums: Iterable[Any] = effects.order_by().values("currency").annotate(**asked).order_by("currency")
    for row in sums:
        for place, band in enumerate(found):
            band.number += row[f"number_{place}"]
            if row[f"left_{place}"] is not None and row["currency"]:
                band.amounts[row["currency"]] = int(row[f"left_{place}"])
    return found


def rows_of(effects: Iterable[ToolEffect]) -> list[Row]:
    """Return the rows of a page: when the head left each, and whether the branch of now charged again.

    Six queries, however many rows and moves.
    """
    page = list(effects)
    ids = {effect.conversation_id for effect in page}
    heads = dict(Conversation.objects.filter(pk__in=ids).values_list("pk", "head_seq"))
    moves, others = _moves(ids), _others(ids)
    known = on_paths(
        {
            *(
                (pk, head, other.call_seq or 0)
                for pk, head in heads.items()
                if head
                for other in others.get(pk, ())
            ),
            *(
                (effect.conversation_id, move.head_seq, effect.call_seq or 0)
                for effect in page
                for move in moves.get(effect.conversation_id, ())
            ),
        }
    )
    names = names_of({int(move.moved_by_id) for found in moves.values() for move in found if _is_staff(move)})
    return [_row(effect, heads.get(effect.conversation_id), moves, others, names, known) for effect in page]


def _row(
    effect: ToolEffect,
    head: int | None,
    moves: dict[UUID, list[HeadMove]],
    others: dict[UUID, list[ToolEffect]],
    names: dict[int | None, str],
    known: set[Place],
) -> Row:
    left = _left_at(effect, moves.get(effect.conversation_id, []), known)
    again = [
        other
        for other in others.get(effect.conversation_id, [])
        if other.pk != effect.pk
        and other.tool_name == effect.tool_name
        and (effect.conversation_id, head, other.call_seq) in known
    ]
    address = reverse("console:compare", args=[effect.conversation_id])
    return Row(
        effect=effect,
        left_at=left,
        moved_by=_who(left, names),
        again=again,
        compare_url=f"{address}?a={effect.call_seq}&b={head}" if head else "",
    )


def _moves(ids: set[UUID]) -> dict[UUID, list[HeadMove]]:
    """The newest moves of each conversation that can leave a branch, newest first."""
    found: dict[UUID, list[HeadMove]] = {}
    moves = HeadMove.objects.filter(conversation_id__in=ids).exclude(reason="append")
    for move in moves.order_by("conversation_id", "-number"):
        of_conversation = found.setdefault(move.conversation_id, [])
        if len(of_conversation) < _MOVES_LOOKED_AT:
            of_conversation.append(move)
    return found


def _others(ids: set[UUID]) -> dict[UUID, list[ToolEffect]]:
    found: dict[UUID, list[ToolEffect]] = {}
    charges = ToolEffect.objects.filter(
        conversation_id__in=ids,
        operation=Operation.CHARGE,
        state__in=[EffectState.APPLIED, EffectState.PENDING],
        call_seq__isnull=False,
    )
    for effect in charges.order_by("requested_at", "id"):
        found.setdefault(effect.conversation_id, []).append(effect)
    return found


def _left_at(effect: ToolEffect, moves: Sequence[HeadMove], known: set[Place]) -> HeadMove | None:
    """The move that left the call's branch for the last time: what is appended goes on where one was."""
    left = None
    for move in moves:
        if move.moved_at < effect.requested_at:
            break
        if (effect.conversation_id, move.head_seq, effect.call_seq) in known:
            break
        left = move
    return left


def _who(move: HeadMove | None, names: dict[int | None, str]) -> str:
    if move is None:
        return ""
    if _is_staff(move):
        return names.get(int(move.moved_by_id), "Somebody")
    return {
        ActorKind.CUSTOMER: "The customer",
        ActorKind.APPLICATION: "The application",
        ActorKind.IMPORTER: "An import",
    }.get(ActorKind(move.moved_by_kind), "A job")


def _is_staff(move: HeadMove) -> bool:
    return move.moved_by_kind == ActorKind.STAFF and move.moved_by_id.isdecimal()


def csv_rows(effects: QuerySet[ToolEffect]) -> Iterator[tuple[Any, ...]]:
    rows = effects.order_by("-requested_at", "-id").iterator(chunk_size=_BATCH)
    for batch in batched(rows, _BATCH):
        yield from map(_cells, rows_of(batch))


def _cells(row: Row) -> tuple[Any, ...]:
    effect = row.effect
    account = effect.account.external_id if effect.account else effect.account_pseudonym
    return (
        *(effect.pk, effect.realm.slug, account, effect.conversation_id, effect.call_seq, effect.tool_name),
        *(effect.external_ref, effect.currency.upper()),
        major_text(effect.amount_settled_minor or 0, effect.currency),
        major_text(effect.amount_compensated_minor, effect.currency),
        *(major_text(row.left_minor, effect.currency), effect.settled_at),
        *(row.left_at.moved_at if row.left_at else None, row.moved_by, bool(row.again), effect.operation),
    )
