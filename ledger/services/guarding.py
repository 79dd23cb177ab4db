"""The guard's judgement: what earlier effects of a conversation mean for a call that wants to begin.

Every function here runs under the conversation's lock, in a statement after the one that took it.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from conversations.ids import mint_id
from ledger.errors import Difference, KeyConflictError
from ledger.models import EffectUse, GuardQuestion, ToolEffect, ToolPolicy
from ledger.processors import key_life
from ledger.services.arguments import Request
from ledger.services.keys import CallPlace, Scope, make_key, scope_of
from ledger.vocabulary import EffectState, GuardAnswer, GuardReason, KeyScope, ReplayPolicy


@dataclass(frozen=True, slots=True)
class Known:
    """What the call itself has already led to."""

    answer: GuardAnswer
    reason: GuardReason
    effect: ToolEffect | None = None
    earlier: ToolEffect | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What other calls' effects mean for this one, and the scope that its key would be made from."""

    answer: GuardAnswer
    reason: GuardReason
    scope: Scope
    earlier: ToolEffect | None = None


def known_for(call: CallPlace, request: Request, *, place: str, now: datetime) -> Known | None:
    """Return the answer for a call that has an effect, or was given one; None where it has neither.

    Raises KeyConflictError where the call began, or was given the outcome of, another request.
    """
    effect = ToolEffect.objects.filter(
        conversation_id=call.conversation_id, call_seq=call.seq, call_id=call.call_id
    ).first()
    if effect is None:
        use = (
            EffectUse.objects.select_related("effect")
            .filter(conversation_id=call.conversation_id, seq=call.seq, call_id=call.call_id)
            .first()
        )
        if use is None:
            return None
        _refuse_another_request(use.effect, request, place=place)
        return Known(GuardAnswer.REPLAY, GuardReason.SAME_SCOPE, effect=use.effect)
    _refuse_another_request(effect, request, place=place)
    if effect.state != EffectState.PENDING:
        return Known(GuardAnswer.REPLAY, GuardReason.SAME_CALL, effect=effect)
    if is_key_expired(effect, now=now):
        return Known(GuardAnswer.ASK, GuardReason.KEY_EXPIRED, earlier=effect)
    return Known(GuardAnswer.RESUME, GuardReason.SAME_CALL, effect=effect)


def _refuse_another_request(effect: ToolEffect, request: Request, *, place: str) -> None:
    if bytes(effect.request_digest) != request.digest:
        raise KeyConflictError(
            effect_id=effect.pk,
            key=effect.idempotency_key,
            differences=differences(effect, request),
            place=place,
        )


def is_key_expired(effect: ToolEffect, *, now: datetime) -> bool:
    """Tell whether the processor may have forgotten the key: then to send again is a new operation.

    A key that was never sent cannot have been forgotten.
    """
    return effect.sent_at is not None and now >= effect.sent_at + key_life(effect.processor)


def differences(effect: ToolEffect, request: Request) -> list[Difference]:
    """Name what the earlier request and this one do not share."""
    pairs = (
        ("op", str(effect.operation), str(request.operation)),
        ("amount", _text(effect.amount_minor), _text(request.amount_minor)),
        ("currency", effect.currency, request.currency),
        ("tool", effect.tool_name, request.tool_name),
    )
    found = [Difference(what, earlier, now) for what, earlier, now in pairs if earlier != now]
    return found or [
        Difference("arguments", bytes(effect.request_digest).hex()[:12], request.digest.hex()[:12])
    ]


def _text(amount: int | None) -> str:
    return "" if amount is None else str(amount)


def judge(*, realm_id: int, policy: ToolPolicy, call: CallPlace, request: Request) -> Judged:
    """Look at what other calls of this conversation did, and answer by the tool's policy."""
    scope = scope_of(
        kind=KeyScope(policy.key_scope),
        call=call,
        tool_name=request.tool_name,
        arguments=request.arguments,
    )
    key = make_key(realm_id=realm_id, scope=scope, call=call, digest=request.digest)
    in_scope = ToolEffect.objects.filter(realm_id=realm_id, idempotency_key=key).first()
    free = _free_scope(realm_id, scope, call, request)
    if in_scope is not None and in_scope.state != EffectState.FAILED:
        return _judge_same_scope(policy, in_scope, free)
    earlier = _earlier(policy, call, request)
    if earlier is None:
        return Judged(GuardAnswer.PROCEED, GuardReason.FIRST, free)
    if policy.replay_policy == ReplayPolicy.NEVER:
        return Judged(GuardAnswer.ASK, GuardReason.NEVER_AGAIN, free, earlier)
    if policy.replay_policy == ReplayPolicy.ASK or earlier.state == EffectState.PENDING:
        return Judged(GuardAnswer.ASK, _why_ask(earlier), free, earlier)
    return Judged(GuardAnswer.PROCEED, GuardReason.ALLOWED, free, earlier)


def _judge_same_scope(policy: ToolPolicy, effect: ToolEffect, free: Scope) -> Judged:
    """Another call made the same key: it is the same operation, unless its outcome is not known."""
    if policy.replay_policy == ReplayPolicy.NEVER:
        return Judged(GuardAnswer.ASK, GuardReason.NEVER_AGAIN, free, effect)
    if effect.state == EffectState.PENDING:
        return Judged(GuardAnswer.ASK, GuardReason.EARLIER_UNKNOWN, free, effect)
    if effect.state == EffectState.COMPENSATED:
        # What was given back is no outcome to hand out again.
        return Judged(GuardAnswer.ASK, GuardReason.SAME_SCOPE, free, effect)
    return Judged(GuardAnswer.REPLAY, GuardReason.SAME_SCOPE, free, effect)


def _earlier(policy: ToolPolicy, call: CallPlace, request: Request) -> ToolEffect | None:
    """Return another call's effect that this one would repeat, an open one first; failed ones count not."""
    others = (
        ToolEffect.objects.filter(conversation_id=call.conversation_id, tool_name=request.tool_name)
        .exclude(call_seq=call.seq, call_id=call.call_id)
        .exclude(state=EffectState.FAILED)
    )
    if policy.replay_policy != ReplayPolicy.NEVER:
        others = others.filter(request_digest=request.digest)
    if policy.replay_policy in (ReplayPolicy.FREE, ReplayPolicy.METERED):
        # Made in one go, they were meant as two; a retry after a timeout stands in a later message.
        others = others.exclude(call_seq=call.seq)
    pending_first = others.filter(state=EffectState.PENDING).order_by("-requested_at", "-id").first()
    return pending_first or others.order_by("-requested_at", "-id").first()


def _why_ask(earlier: ToolEffect) -> GuardReason:
    if earlier.state == EffectState.PENDING:
        return GuardReason.EARLIER_UNKNOWN
    return GuardReason.SAME_ARGUMENTS


def _free_scope(realm_id: int, scope: Scope, call: CallPlace, request: Request) -> Scope:
    """Return the scope with the first counter whose key no effect holds.

    Counted on where the call's own key is taken: by an operation that failed, or
    by one that a person allowed to be repeated.
    """
    taken = True
    while taken:
        key = make_key(realm_id=realm_id, scope=scope, call=call, digest=request.digest)
        taken = ToolEffect.objects.filter(realm_id=realm_id, idempotency_key=key).exists()
        if taken:
            scope = Scope(kind=scope.kind, root_seq=scope.root_seq, counter=scope.counter + 1)
    return scope


def store_use(call: CallPlace, effect: ToolEffect, *, now: datetime) -> None:
    """Write down that the call was given this effect's outcome: the effect lives on its branch too."""
    EffectUse.objects.create(
        conversation_id=call.conversation_id, seq=call.seq, call_id=call.call_id, effect=effect, used_at=now
    )
    withdraw_question(call)


def put_question(
    call: CallPlace,
    request: Request,
    *,
    realm_id: int,
    reason: GuardReason,
    earlier: ToolEffect | None,
    now: datetime,
) -> GuardQuestion:
    """Return the question about this call with these arguments, put now if it is new."""
    question, _ = GuardQuestion.objects.get_or_create(
        conversation_id=call.conversation_id,
        seq=call.seq,
        call_id=call.call_id,
        request_digest=request.digest,
        defaults={
            "id": mint_id(now),
            "realm_id": realm_id,
            "tool_name": request.tool_name,
            "reason": reason,
            "earlier_effect": earlier,
            "asked_at": now,
        },
    )
    return question


def use_permission(question: GuardQuestion, *, now: datetime) -> bool:
    """Take a permission that was given and not used yet; tell whether there was one."""
    allowed = Q(pk=question.pk, is_allowed=True, used_at=None)
    if not GuardQuestion.objects.filter(allowed).update(used_at=now):
        return False
    question.used_at = now
    return True


def withdraw_question(call: CallPlace) -> None:
    """Drop an open question that has answered itself: nobody should be asked any more."""
    GuardQuestion.objects.filter(
        conversation_id=call.conversation_id, seq=call.seq, call_id=call.call_id, is_allowed=None
    ).delete()
