"""Begin: may this call go ahead, and under which key?

Locks the conversation, then looks, in two statements: judged in one, two branches that begin
at once would both see nothing and both go ahead. Whatever is answered is a row before anything
may be sent; docs/ledger.md has the whole order.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from access.actors import Actor
from conversations.errors import NotFoundError, StoreError
from conversations.ids import mint_id
from conversations.models import Conversation, ToolCall
from conversations.services.placing import lock_conversation
from ledger.errors import CallNotRecordedError
from ledger.models import EffectReference, GuardQuestion, ToolEffect, ToolPolicy
from ledger.services import guarding
from ledger.services.arguments import Request, amount_in, arguments_of, currency_in, place_of, read_call
from ledger.services.keys import CallPlace, Scope, make_key
from ledger.services.moves import Proof, write_move
from ledger.services.policies import find_policy
from ledger.services.rules import is_effectful
from ledger.vocabulary import (
    Effectful,
    EffectState,
    EvidenceSource,
    GuardAnswer,
    GuardReason,
    Operation,
    ReferenceKind,
    ReplayPolicy,
)

# Ids by which the processor can be asked, and what each one is to the effect.
FIND_BY = {
    "payment_intent": ReferenceKind.INTENT,
    "charge": ReferenceKind.TARGET,
    "customer": None,
}


# What a column of amounts holds.
_LARGEST_AMOUNT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Begun:
    """The guard's answer. Only `proceed` and `resume` may be sent, under `key` and no other.

    `effect` is the call's own effect, or the one whose outcome it is given
    (`replay`); `earlier` the one that an `ask` is about; `question` what a person
    has to answer, and did answer if `question.is_allowed` is not None.
    """

    answer: GuardAnswer
    reason: GuardReason
    effect: ToolEffect | None = None
    earlier: ToolEffect | None = None
    question: GuardQuestion | None = None

    @property
    def may_send(self) -> bool:
        return self.answer in (GuardAnswer.PROCEED, GuardAnswer.RESUME)

    @property
    def key(self) -> str:
        return self.effect.idempotency_key if self.may_send and self.effect is not None else ""


@transaction.atomic
def begin_effect(
    *,
    conversation_id: UUID,
    seq: int,
    call_id: str,
    actor: Actor,
    now: datetime,
    realm_id: int | None = None,
    operation: Operation | None = None,
    amount_minor: int | None = None,
    currency: str = "",
    find_by: Mapping[str, str] | None = None,
) -> Begun:
    """Answer whether the recorded call may be sent, and write down what that answer commits to.

    What the application is about to send (operation, amount, currency) wins over
    what the registry reads from the arguments. Raises CallNotRecordedError for a
    call that the store does not hold, KeyConflictError where the call began as
    another request. Called again by the same call, it answers the same.
    """
    call = CallPlace(conversation_id=conversation_id, seq=seq, call_id=call_id)
    place = place_of(conversation_id=conversation_id, seq=seq, call_id=call_id)
    conversation = _locked_conversation(conversation_id, realm_id)
    recorded = ToolCall.objects.filter(conversation_id=conversation_id, seq=seq, call_id=call_id).first()
    if recorded is None:
        raise CallNotRecordedError(place=place)
    realm = conversation.account.realm_id
    policy = find_policy(realm_id=realm, tool_name=recorded.name)
    request = _request(
        call, recorded.name, policy, operation=operation, amount_minor=amount_minor, currency=currency
    )
    if policy is not None and not _is_effectful(policy, request):
        return Begun(GuardAnswer.PROCEED, GuardReason.NOT_EFFECTFUL)
    known = guarding.known_for(call, request, place=place, now=now)
    if known is not None:
        return Begun(known.answer, known.reason, effect=known.effect, earlier=known.earlier)
    if policy is None:
        return _ask_unregistered(conversation, call, request, actor=actor, now=now, find_by=find_by)
    judged = guarding.judge(realm_id=realm, policy=policy, call=call, request=request)
    if judged.answer == GuardAnswer.REPLAY and judged.earlier is not None:
        guarding.store_use(call, judged.earlier, now=now)
        return Begun(GuardAnswer.REPLAY, judged.reason, effect=judged.earlier)
    reason, question = judged.reason, None
    if judged.answer == GuardAnswer.ASK:
        question = guarding.put_question(
            call, request, realm_id=realm, reason=judged.reason, earlier=judged.earlier, now=now
        )
        if not guarding.use_permission(question, now=now):
            return Begun(GuardAnswer.ASK, judged.reason, earlier=judged.earlier, question=question)
        reason = GuardReason.ALLOWED
    else:
        guarding.withdraw_question(call)
    effect = _write_effect(
        conversation, call, request, policy, judged.scope, actor=actor, now=now, find_by=find_by or {}
    )
    return Begun(GuardAnswer.PROCEED, reason, effect=effect, question=question)


def _locked_conversation(conversation_id: UUID, realm_id: int | None) -> Conversation:
    lock_conversation(conversation_id)
    conversation = Conversation.objects.select_related("account").get(pk=conversation_id)
    if realm_id is not None and conversation.account.realm_id != realm_id:
        raise NotFoundError("no-conversation", "there is no such conversation", place=str(conversation_id))
    return conversation


def _request(
    call: CallPlace,
    tool_name: str,
    policy: ToolPolicy | None,
    *,
    operation: Operation | None,
    amount_minor: int | None,
    currency: str,
) -> Request:
    place = place_of(conversation_id=call.conversation_id, seq=call.seq, call_id=call.call_id)
    part = read_call(conversation_id=call.conversation_id, seq=call.seq, call_id=call.call_id)
    arguments = arguments_of(part)
    if policy is not None:
        currency = currency or currency_in(arguments, policy)
        if amount_minor is None:
            amount_minor = amount_in(arguments, policy, currency=currency, place=place)
        operation = operation or Operation(policy.operation)
    if amount_minor is not None and not currency:
        raise StoreError("amount-without-currency", "an amount needs its currency", place=place)
    if amount_minor is not None and amount_minor < 0:
        raise StoreError("amount-negative", "an amount is not negative", place=place)
    if amount_minor is not None and amount_minor > _LARGEST_AMOUNT:
        raise StoreError("amount-too-large", "no processor moves such an amount", place=place)
    if currency and not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
        raise StoreError("currency-unknown", "a currency is three letters", place=place)
    return Request(
        tool_name=tool_name,
        operation=operation or Operation.OTHER,
        arguments=arguments,
        amount_minor=amount_minor,
        currency=currency.lower(),
    )


def _is_effectful(policy: ToolPolicy, request: Request) -> bool:
    if policy.effectful == Effectful.BY_RULE:
        return is_effectful(request.arguments, policy.rule)
    return policy.effectful == Effectful.YES


def _ask_unregistered(
    conversation: Conversation,
    call: CallPlace,
    request: Request,
    *,
    actor: Actor,
    now: datetime,
    find_by: Mapping[str, str] | None,
) -> Begun:
    """A tool that nobody registered may do anything: a person says whether this call may."""
    realm = conversation.account.realm_id
    policy = ToolPolicy(name=request.tool_name, replay_policy=ReplayPolicy.ASK, operation=request.operation)
    judged = guarding.judge(realm_id=realm, policy=policy, call=call, request=request)
    question = guarding.put_question(
        call,
        request,
        realm_id=realm,
        reason=GuardReason.UNREGISTERED,
        earlier=judged.earlier,
        now=now,
    )
    if not guarding.use_permission(question, now=now):
        return Begun(GuardAnswer.ASK, GuardReason.UNREGISTERED, earlier=judged.earlier, question=question)
    effect = _write_effect(
        conversation, call, request, policy, judged.scope, actor=actor, now=now, find_by=find_by or {}
    )
    return Begun(GuardAnswer.PROCEED, GuardReason.ALLOWED, effect=effect, question=question)


def _write_effect(
    conversation: Conversation,
    call: CallPlace,
    request: Request,
    policy: ToolPolicy,
    scope: Scope,
    *,
    actor: Actor,
    now: datetime,
    find_by: Mapping[str, str],
) -> ToolEffect:
    realm = conversation.account.realm_id
    effect = ToolEffect(
        id=mint_id(now),
        realm_id=realm,
        account_id=conversation.account_id,
        conversation_id=call.conversation_id,
        call_seq=call.seq,
        call_id=call.call_id,
        tool_name=request.tool_name,
        operation=request.operation,
        idempotency_key=make_key(realm_id=realm, scope=scope, call=call, digest=request.digest),
        key_scope=scope.kind,
        key_root_seq=scope.root_seq,
        key_counter=scope.counter,
        request_digest=request.digest,
        processor=policy.processor,
        find_by=dict(find_by),
        amount_minor=request.amount_minor,
        currency=request.currency,
        requested_at=now,
    )
    write_move(
        effect=effect,
        to_state=EffectState.PENDING,
        proof=Proof(source=EvidenceSource.BEGIN),
        actor=actor,
        now=now,
    )
    effect.save(force_insert=True)
    add_find_by(effect, find_by, now=now)
    return effect


def add_find_by(effect: ToolEffect, find_by: Mapping[str, str], *, now: datetime) -> None:
    """Write down the ids by which the processor can be asked, as references where they name one object."""
    unknown = find_by.keys() - FIND_BY.keys()
    if unknown:
        known = ", ".join(FIND_BY)
        raise StoreError("find-by-unknown", f"an effect is found by {known}; not by {', '.join(unknown)}")
    EffectReference.objects.bulk_create(
        [
            EffectReference(
                effect=effect, processor=effect.processor, kind=kind, reference=find_by[name], seen_at=now
            )
            for name, kind in FIND_BY.items()
            if kind is not None and find_by.get(name)
        ],
        ignore_conflicts=True,
    )
