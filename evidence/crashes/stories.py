"""What is going on when the strike comes: an agent that charges, and three workers.

Each story is a conversation of a customer of its own, at the processor too, so that the
books can be read without believing the ledger.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import stripe
from django.contrib.auth.models import User

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import append_message, edit_message
from conversations.services.starting import start_conversation
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import PartStatus, PartType, Role
from ledger.models import Compensation, ToolEffect
from ledger.processors import STRIPE
from ledger.services import pulling, refunding, sweeping
from ledger.services.compensating import approve_compensation, request_compensation
from ledger.vocabulary import CompensationReason
from ledger.wrapper import effect
from samples.processor.process import StartedProcessor

AGENT = Actor(ActorKind.APPLICATION, "agent")
CUSTOMER = Actor(ActorKind.CUSTOMER)
WORKER = Actor(ActorKind.JOB, "worker")
AMOUNT = 1900


@dataclass
class Story:
    """A customer who wants one purchase; `wants` says whether it must have been made in the end."""

    number: int
    conversation_id: UUID
    customer: str
    asked: int
    kind: str
    wants: bool = True
    branches: list[str] = field(default_factory=lambda: ["toolu_1"])


class World:
    """The database, the sandbox and its clock, as every process of the proof sees them."""

    def __init__(self, processor: StartedProcessor, realm: Realm, staff: list[User]) -> None:
        self.processor, self.realm, self.staff = processor, realm, staff
        self.api = processor.client().v1
        self.told = 0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.processor.now(), UTC)

    def tell(self, kind: str) -> Story:
        """Begin a story: a customer asks."""
        self.told += 1
        # A second each, so that the events of a story have a window of their own.
        self.processor.turn_clock(seconds=2)
        customer = self.api.customers.create({"description": f"story {self.told}"})
        now = self.now()
        account = ensure_account(realm=self.realm, external_id=customer.id, now=now)
        conversation = start_conversation(account_id=account.pk, now=now)
        asked = _say(conversation, "Buy plan A", now)
        return Story(self.told, conversation.pk, customer.id, asked, kind)

    def agent(self, story: Story, call_id: str) -> Callable[[], None]:
        """Return the agent's work: record the call, charge for it, record the answer; all repeatable."""

        def work() -> None:
            seq = _call(story, call_id, self.now())
            outcome = self._charge(story, seq, call_id)
            if outcome in ("applied", "failed"):
                _answer(story, seq, call_id, outcome, self.now())

        return work

    def _charge(self, story: Story, seq: int, call_id: str) -> str:
        with effect(
            conversation_id=story.conversation_id,
            seq=seq,
            call_id=call_id,
            actor=AGENT,
            clock=self.now,
            find_by={"customer": story.customer},
        ) as sending:
            if sending.may_send:
                wanted: Any = {
                    "amount": AMOUNT,
                    "currency": "usd",
                    "customer": story.customer,
                    "payment_method": "pm_card_visa",
                    "confirm": True,
                    "metadata": sending.metadata,
                }
                sending.answered(self.api.payment_intents.create(wanted, sending.options))
            found = sending.effect
        return "" if found is None else str(found.state)

    def edit(self, story: Story) -> None:
        """The customer rewords the question; the model will call again on the new branch."""
        message = MessageDraft(
            role=Role.USER, parts=[PartDraft(type=PartType.TEXT, text="Buy plan A, please")]
        )
        edit_message(
            conversation_id=story.conversation_id,
            seq=story.asked,
            message=message,
            actor=CUSTOMER,
            now=self.now(),
        )
        story.branches.append("toolu_2")

    def sweeper(self, story: Story) -> Callable[[], None]:
        def work() -> None:
            for pk in ToolEffect.objects.filter(conversation_id=story.conversation_id).values_list("pk"):
                sweeping.look(effect_id=pk[0], actor=WORKER, now=self.now())

        return work

    def puller(self, story: Story) -> Callable[[], None]:
        """Return a worker that takes in the events of this story's moment."""
        since = self.now()

        def work() -> None:
            until = since + timedelta(seconds=1)
            pulling.pull(processor=STRIPE, since=since, until=until, now=self.now())

        return work

    def refunder(self, story: Story) -> Callable[[], None]:
        def work() -> None:
            for pk in Compensation.objects.filter(effect__conversation_id=story.conversation_id).values_list(
                "pk"
            ):
                refunding.send_refund(compensation_id=pk[0], actor=WORKER, now=self.now())

        return work

    def approve_refund(self, story: Story) -> None:
        """Two people agree to give it back."""
        charged = ToolEffect.objects.get(conversation_id=story.conversation_id)
        compensation = request_compensation(
            effect_id=charged.pk,
            amount_minor=AMOUNT,
            reason=CompensationReason.CUSTOMER_REQUEST,
            user=self.staff[0],
            now=self.now(),
        )
        approve_compensation(compensation_id=compensation.pk, user=self.staff[1], now=self.now())

    def charge_without_hearing(self, story: Story) -> None:
        """A charge whose answer is lost: what the sweeper and the events have to find."""
        self.processor.ask_for("answer_lost", path="/v1/payment_intents")
        try:
            self.agent(story, "toolu_1")()
        except stripe.APIConnectionError:
            return
        raise AssertionError("the answer was not lost")


def _say(conversation: Conversation, words: str, now: datetime) -> int:
    message = MessageDraft(role=Role.USER, parts=[PartDraft(type=PartType.TEXT, text=words)])
    return append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=now).seq


def _call(story: Story, call_id: str, now: datetime) -> int:
    payload = (
        f'{{"type":"tool_use","id":"{call_id}","name":"buy_plan",'
        f'"input":{{"plan":"A","amount":{AMOUNT},"currency":"usd"}}}}'
    )
    part = PartDraft(
        type=PartType.TOOL_USE, payload=payload.encode(), tool_call_id=call_id, tool_name="buy_plan"
    )
    message = MessageDraft(role=Role.ASSISTANT, parts=[part], client_message_id=f"call-{call_id}")
    return append_message(conversation_id=story.conversation_id, message=message, actor=AGENT, now=now).seq


def _answer(story: Story, seq: int, call_id: str, outcome: str, now: datetime) -> None:
    payload = f'{{"type":"tool_result","tool_use_id":"{call_id}","content":"{outcome}"}}'
    part = PartDraft(
        type=PartType.TOOL_RESULT,
        payload=payload.encode(),
        tool_call_id=call_id,
        status=PartStatus.OK if outcome == "applied" else PartStatus.ERROR,
    )
    message = MessageDraft(role=Role.USER, parts=[part], client_message_id=f"answer-{call_id}")
    answer_calls(conversation_id=story.conversation_id, message=message, actor=AGENT, now=now, below=seq)
