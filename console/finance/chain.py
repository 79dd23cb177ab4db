"""One effect as a chain: call, attempt, branch, key, request, processor, compensations, approvals."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.urls import reverse

from console.finance.repeats import Repeat, repeats_of
from conversations.models import Conversation, Generation, HeadMove, ToolCall
from conversations.reads.path import path_seqs
from ledger.models import (
    Compensation,
    CompensationNote,
    Contradiction,
    Dispute,
    EffectMove,
    EffectReference,
    EffectUse,
    GuardQuestion,
    ToolEffect,
    ToolPolicy,
)
from ledger.processors import key_life
from ledger.querysets import standings
from ledger.services.compensating import left_of
from ledger.vocabulary import CompensationState, KeyScope, Standing

SCOPES: Final = {
    KeyScope.CALL: "Each call is an operation of its own: the same purchase after an edit charges again.",
    KeyScope.CONVERSATION: "Equal calls anywhere in the conversation are one operation, on every branch.",
    KeyScope.BRANCH_ROOT: (
        "Equal calls below one branch root are one operation, counted along the path: an edit or a"
        " regenerate of the turn that asked shares this key and charges nothing; two equal calls in one"
        " turn are two."
    ),
}
_MOST: Final = 50
_MOVES_LOOKED_AT: Final = 20


@dataclass(frozen=True, slots=True)
class Decision:
    """One compensation with the people and their words."""

    compensation: Compensation
    asked_by: str
    decided_by: str
    notes: Sequence[CompensationNote]

    @property
    def is_waiting(self) -> bool:
        return self.compensation.state == CompensationState.REQUESTED


@dataclass(frozen=True, slots=True)
class Chain:
    """Everything the page of an effect shows; what a purge took is None."""

    effect: ToolEffect
    standing: Standing
    conversation: Conversation | None
    call: ToolCall | None
    attempt: Generation | None
    left_at: HeadMove | None
    repeats: Sequence[Repeat]
    policy: ToolPolicy | None
    question: GuardQuestion | None
    moves: Sequence[EffectMove]
    references: Sequence[EffectReference]
    contradictions: Sequence[Contradiction]
    disputes: Sequence[Dispute]
    uses: Sequence[EffectUse]
    decisions: Sequence[Decision]

    @property
    def scope_explained(self) -> str:
        return SCOPES[KeyScope(self.effect.key_scope)]

    @property
    def key_lives_until(self) -> datetime:
        return (self.effect.sent_at or self.effect.requested_at) + key_life(self.effect.processor)

    @property
    def left(self) -> int:
        return left_of(self.effect)

    @property
    def waiting(self) -> Decision | None:
        return next((decision for decision in self.decisions if decision.is_waiting), None)

    @property
    def other_ids(self) -> list[tuple[str, str]]:
        """By what the processor can be asked, where it is no reference that is shown already."""
        shown = {found.reference for found in self.references}
        asked_by = self.effect.find_by.items()
        return [(name.replace("_", " "), str(value)) for name, value in asked_by if value not in shown]

    @property
    def compare_url(self) -> str:
        """The page that sets the abandoned branch beside the live one."""
        if self.standing != Standing.ABANDONED or self.conversation is None:
            return ""
        address = reverse("console:compare", args=[self.conversation.pk])
        return f"{address}?a={self.effect.call_seq}&b={self.conversation.head_seq}"


def read_chain(effect: ToolEffect) -> Chain:
    """Read all that the page shows; a fixed number of queries, however long the chain is.

    Only an abandoned effect costs one more for each move looked at until the one that left it.
    """
    conversation = Conversation.objects.filter(pk=effect.conversation_id).first()
    call = _call(effect)
    standing = standings([effect])[effect.pk]
    return Chain(
        effect=effect,
        standing=standing,
        conversation=conversation,
        call=call,
        attempt=_attempt(call),
        left_at=_left_at(effect) if standing == Standing.ABANDONED else None,
        repeats=repeats_of(effect, most=_MOST),
        policy=ToolPolicy.objects.filter(realm_id=effect.realm_id, name=effect.tool_name).first(),
        question=_question(effect),
        moves=list(effect.moves.order_by("number")),
        references=list(effect.references.order_by("kind", "id")[:_MOST]),
        contradictions=list(effect.contradictions.order_by("id")[:_MOST]),
        disputes=list(effect.disputes.order_by("opened_at")[:_MOST]),
        uses=list(effect.uses.order_by("used_at")[:_MOST]),
        decisions=_decisions(effect.pk),
    )


def _call(effect: ToolEffect) -> ToolCall | None:
    if effect.call_seq is None:
        return None
    return ToolCall.objects.filter(pk=(effect.conversation_id, effect.call_seq, effect.call_id)).first()


def _attempt(call: ToolCall | None) -> Generation | None:
    if call is None or call.generation_number is None:
        return None
    return Generation.objects.filter(pk=(call.conversation_id, call.generation_number)).first()


def _left_at(effect: ToolEffect) -> HeadMove | None:
    """The head move that left the call's branch for the last time; looks at the newest moves only.

    What is appended goes on where the head was, so only edits, regenerates and switches can leave.
    """
    moves = HeadMove.objects.filter(
        conversation_id=effect.conversation_id, moved_at__gte=effect.requested_at
    ).exclude(reason="append")
    left = None
    for move in moves.order_by("-number")[:_MOVES_LOOKED_AT]:
        path = path_seqs(conversation_id=effect.conversation_id, leaf_seq=move.head_seq)
        if effect.call_seq in path:
            break
        left = move
    return left


def _question(effect: ToolEffect) -> GuardQuestion | None:
    if effect.call_seq is None:
        return None
    return GuardQuestion.objects.filter(
        conversation_id=effect.conversation_id, seq=effect.call_seq, call_id=effect.call_id
    ).first()


def _decisions(effect_id: UUID) -> list[Decision]:
    compensations = list(
        Compensation.objects.filter(effect_id=effect_id).order_by("requested_at", "id")[:_MOST]
    )
    notes: dict[UUID, list[CompensationNote]] = {}
    written = CompensationNote.objects.filter(compensation__effect_id=effect_id).select_related("author")
    for note in written.order_by("written_at", "id"):
        notes.setdefault(note.compensation_id, []).append(note)
    names = names_of({pk for found in compensations for pk in (found.requested_by_id, found.decided_by_id)})
    return [
        Decision(
            found,
            names.get(found.requested_by_id, "The processor's side"),
            names.get(found.decided_by_id, ""),
            notes.get(found.pk, []),
        )
        for found in compensations
    ]


def names_of(ids: set[int | None]) -> dict[int | None, str]:
    """Return the names of staff by id, in one query."""
    users = User.objects.filter(pk__in=[pk for pk in ids if pk is not None])
    return {user.pk: user.get_full_name() or user.get_username() for user in users}
