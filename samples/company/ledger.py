"""What the stories' tools did: their effects, through the ledger's own services.

Nobody is asked and nothing is sent: the processor's answers are objects that were made for
the stories (see `receipts`). So it loads in seconds, without a processor, and a sweeper that
has no key leaves the open ones as they are.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib.auth.models import User

from access.actors import Actor, ActorKind
from conversations.models import MessagePart, ToolCall
from conversations.reads.path import read_messages
from ledger.models import ToolEffect
from ledger.processors import STRIPE
from ledger.services.beginning import begin_effect
from ledger.services.compensating import request_compensation
from ledger.services.events import as_body, take_in_event, work_event
from ledger.services.questions import answer_question
from ledger.services.sending import mark_sent, settle_by_answer
from ledger.vocabulary import CompensationReason, GuardAnswer
from samples.company import processor_ids as ids
from samples.company import receipts
from samples.company.till import FARES, POLICIES, register_tools
from samples.company.times import moment

RECORDER = Actor(ActorKind.APPLICATION, "travel-agent")
_OBJECT = re.compile(r"(?:ch|pi|re)_3[0-9A-Za-z]{15,}")
_TOUCHING = [name for name, policy in POLICIES.items() if policy["effectful"] == "yes"]


@dataclass(slots=True)
class Ledger:
    """How many effects there are by state, and what else was written."""

    effects: int = 0
    events: int = 0
    requests: int = 0
    open: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call's result says: its words, the processor's ids in them, and when it came."""

    words: str
    at: datetime

    def id_of(self, prefix: str) -> str:
        return next((found for found in _OBJECT.findall(self.words) if found.startswith(prefix)), "")


def load_ledger(*, today: datetime) -> Ledger:
    """Write the effects of every call of the loaded stories, and what became of them since.

    Must not run inside a transaction: it marks what was sent.
    """
    began = today - timedelta(days=400)
    administrator, support = _staff("sample.administrator"), _staff("sample.support")
    register_tools(user=administrator, now=began)
    ledger = Ledger()
    calls = ToolCall.objects.filter(name__in=_TOUCHING).order_by("requested_at", "conversation_id", "seq")
    for call in calls:
        _write_effect(call, ledger, allowed_by=support)
    for event_id, kind, carried, at in _later(today):
        if ToolEffect.objects.filter(external_ref=carried["charge"]).exists():
            _hear(event_id, kind, carried, at, ledger=ledger)
    _ask_for_refunds(ledger, user=support, now=today)
    return ledger


def _staff(username: str) -> User:
    """A member of staff who has left: named in the log, and no way in."""
    user, _ = User.objects.get_or_create(username=username, defaults={"is_active": False})
    return user


def _write_effect(call: ToolCall, ledger: Ledger, *, allowed_by: User) -> None:
    outcome = _outcome_of(call)
    effect = _begin(call, outcome, allowed_by=allowed_by)
    if effect is None:
        return
    ledger.effects += 1
    if outcome is None:
        # The story says which payment it was, though no result ever came.
        find_by = {"payment_intent": ids.KOFI_INTENT} if call.name == "book_rail" else {}
        mark_sent(effect_id=effect.pk, now=call.requested_at + timedelta(seconds=1), find_by=find_by)
        ledger.open.append(str(effect.pk))
        return
    intent = outcome.id_of("pi_")
    find_by = {"payment_intent": intent} if intent else {}
    mark_sent(effect_id=effect.pk, now=call.requested_at + timedelta(seconds=1), find_by=find_by)
    answer = _answer(effect, outcome)
    if answer is None:
        ledger.open.append(str(effect.pk))
        return
    settle_by_answer(
        effect_id=effect.pk, answer=answer, body=json.dumps(answer).encode(), actor=RECORDER, now=outcome.at
    )


def _begin(call: ToolCall, outcome: Outcome | None, *, allowed_by: User) -> ToolEffect | None:
    """Begin as the application did; where the guard asks, support had allowed it."""
    said = _OBJECT.findall(outcome.words) if outcome else []
    amount, currency = next((FARES[name] for name in said if name in FARES), (None, ""))
    target = next((name for name in (call.arguments or {}).values() if str(name).startswith("ch_")), "")

    def begin() -> tuple[GuardAnswer, ToolEffect | None, Callable[[], None]]:
        begun = begin_effect(
            conversation_id=call.conversation_id,
            seq=call.seq,
            call_id=call.call_id,
            actor=RECORDER,
            now=call.requested_at,
            amount_minor=amount,
            currency=currency,
            find_by={"charge": target} if target else None,
        )

        def allow() -> None:
            if begun.question is not None:
                answer_question(
                    question_id=begun.question.pk,
                    is_allowed=True,
                    user=allowed_by,
                    now=call.requested_at,
                )

        return begun.answer, begun.effect, allow

    answer, effect, allow = begin()
    if answer == GuardAnswer.ASK:
        allow()
        answer, effect, _ = begin()
    return effect if answer == GuardAnswer.PROCEED else None


def _outcome_of(call: ToolCall) -> Outcome | None:
    """Read the result that answers the call: the first, where several branches have one."""
    part = (
        MessagePart.objects.filter(
            conversation_id=call.conversation_id, answers_seq=call.seq, tool_call_id=call.call_id
        )
        .order_by("seq")
        .first()
    )
    if part is None:
        return None
    [message] = read_messages(conversation_id=call.conversation_id, seqs=[part.seq])
    draft = message.draft.parts[part.ordinal]
    words = f"{draft.shell or ''}{draft.text or ''}{(draft.payload or b'').decode(errors='replace')}"
    return Outcome(words=words, at=message.created_at)


def _answer(effect: ToolEffect, outcome: Outcome) -> receipts.Body | None:
    """Return the processor's object that the result speaks of; None where nobody knows."""
    charge, intent, refund = (outcome.id_of(prefix) for prefix in ("ch_", "pi_", "re_"))
    if refund:
        amount, currency = FARES[refund]
        made = receipts.refund(refund, ids.DANA_CHARGE, amount, currency, outcome.at)
        return {**made, "metadata": receipts.marks(effect)}
    if "card_declined" in outcome.words and intent:
        return receipts.declined(effect, intent, outcome.at)
    if "succeeded" in outcome.words and charge:
        return receipts.charge(effect, charge, intent, outcome.at)
    return None


def _later(today: datetime) -> list[tuple[str, str, receipts.Body, datetime]]:
    """What the processor told in the days after: a refund that failed, a dispute, a part given back."""
    # When the story asks for it: after its charge, whatever hour the company is loaded at.
    sent = moment(today, days=7, at="23:13:30")
    failed = sent + timedelta(days=2)
    dana = receipts.refund(ids.DANA_REFUND, ids.DANA_CHARGE, 7699, "usd", sent)
    lost = {**dana, "status": "failed", "failure_reason": "expired_or_canceled_card"}
    disputed = today - timedelta(days=4)
    jonas = receipts.dispute(ids.JONAS_DISPUTE, ids.JONAS_CHARGE, 20000, "usd", disputed)
    given = today - timedelta(days=5)
    amelie = receipts.refund("re_3SXd7kWm7TnLdR2v0qVnHs4T", ids.AMELIE_FIRST_CHARGE, 10000, "eur", given)
    return [
        ("evt_3SWp4jWm7TnLdR2v1aRefund01", "refund.created", dana, sent),
        ("evt_3SWp4jWm7TnLdR2v1aRefund02", "charge.refund.updated", lost, failed),
        ("evt_1SWdLqWm7TnLdR2v1Dispute01", "charge.dispute.created", jonas, disputed),
        ("evt_3SXd7kWm7TnLdR2v1aRefund03", "refund.created", amelie, given),
    ]


def _hear(event_id: str, kind: str, carried: receipts.Body, at: datetime, *, ledger: Ledger) -> None:
    body = as_body(receipts.event(event_id, kind, carried, at))
    taken = take_in_event(processor=STRIPE, body=body, now=at)
    work_event(event_id=taken.event.pk, now=at)
    ledger.events += 1


def _ask_for_refunds(ledger: Ledger, *, user: User, now: datetime) -> None:
    """Support has seen that the second gift card should not have gone out; finance has yet to decide."""
    twice = ToolEffect.objects.filter(external_ref=ids.TAKUMI_SECOND_CHARGE).first()
    if twice is None or twice.amount_settled_minor is None:
        return
    request_compensation(
        effect_id=twice.pk,
        amount_minor=twice.amount_settled_minor,
        reason=CompensationReason.DUPLICATE,
        user=user,
        now=now - timedelta(hours=3),
        note="二通届いたとのこと。二通目の返金をお願いします。",
    )
    ledger.requests += 1
