"""What the ledger's tests share: a story with a charging call, and the sandbox as the processor."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User

from access.actors import Actor, ActorKind
from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.services.appending import append_message, edit_message
from conversations.services.tool_results import answer_calls
from conversations.vocabulary import Role
from ledger.models import ToolEffect
from ledger.services.beginning import Begun, begin_effect
from ledger.services.policies import save_policy
from ledger.services.refunds import take_refund
from ledger.services.sending import mark_sent
from samples.processor.process import Processor
from tests.conversations.conftest import (
    NOW,
    account,
    conversation,
    make_account,
    make_conversation,
    realm,
)
from tests.conversations.drafts import assistant, call, results, user
from tests.ledger import paying
from tests.ledger.seen import AGENT, refunded
from tests.samples.conftest import pay, processor, running_processor, stripe_api

__all__ = [
    "AGENT",
    "account",
    "conversation",
    "make_account",
    "make_conversation",
    "pay",
    "processor",
    "realm",
    "running_processor",
    "stripe_api",
]

CUSTOMER = Actor(ActorKind.CUSTOMER)
SWEEPER = Actor(ActorKind.JOB, "sweep")
LATER = NOW + timedelta(minutes=5)
CHARGE = '{"order": 1042, "amount": 1900, "currency": "usd"}'


class Talk:
    """One conversation, told in a line a step; every step returns the message's number."""

    def __init__(self, conversation: Conversation) -> None:
        self.id: UUID = conversation.pk

    def says(self, words: str = "Buy plan A", *, below: int = 0) -> int:
        return append_message(
            conversation_id=self.id, message=user(words), actor=CUSTOMER, now=NOW, below=below
        ).seq

    def edits(self, seq: int, words: str = "Buy plan B") -> int:
        return edit_message(
            conversation_id=self.id, seq=seq, message=user(words), actor=CUSTOMER, now=NOW
        ).seq

    def calls(
        self,
        *call_ids: str,
        name: str = "charge_card",
        arguments: str = CHARGE,
        below: int = 0,
    ) -> int:
        draft = MessageDraft(
            role=Role.ASSISTANT, parts=[call(call_id, name, arguments) for call_id in call_ids]
        )
        return append_message(conversation_id=self.id, message=draft, actor=AGENT, now=NOW, below=below).seq

    def answers(self, *call_ids: str, below: int = 0) -> int:
        return answer_calls(
            conversation_id=self.id, message=results(*call_ids), actor=AGENT, now=NOW, below=below
        ).seq

    def replies(self, words: str = "Done.", *, below: int = 0) -> int:
        return append_message(
            conversation_id=self.id, message=assistant(words), actor=AGENT, now=NOW, below=below
        ).seq

    def begins(self, seq: int, call_id: str, **given: Any) -> Begun:
        return begin_effect(
            **{
                "conversation_id": self.id,
                "seq": seq,
                "call_id": call_id,
                "actor": AGENT,
                "now": NOW,
                **given,
            }
        )


@pytest.fixture
def talk(conversation: Conversation) -> Talk:
    return Talk(conversation)


@pytest.fixture
def staff(db: None) -> Callable[[str], User]:
    return User.objects.create_user


@pytest.fixture
def register(realm: Any, staff: Callable[[str], User]) -> Callable[..., Any]:
    """Register a tool that charges through Stripe; the amount and the currency stand in its arguments."""
    admin = staff("administrator")

    def make(name: str = "charge_card", **given: Any) -> Any:
        values = {
            "realm": realm,
            "effectful": "yes",
            "replay_policy": "ask",
            "key_scope": "branch_root",
            "operation": "charge",
            "processor": "stripe",
            "amount_path": "amount",
            "currency_path": "currency",
            **given,
        }
        return save_policy(name=name, user=admin, now=NOW, **values)

    return make


@pytest.fixture
def charge_card(register: Callable[..., Any]) -> Any:
    return register()


@pytest.fixture
def bought(talk: Talk, charge_card: Any) -> ToolEffect:
    """An effect that has begun: the customer asked, the model called."""
    talk.says()
    begun = talk.begins(talk.calls("toolu_1"), "toolu_1")
    assert begun.effect is not None
    return begun.effect


@pytest.fixture
def open_effect(bought: ToolEffect) -> ToolEffect:
    """Sent for 50.00 USD under a known key, and never answered."""
    mark_sent(effect_id=bought.pk, now=NOW)
    return bought


@pytest.fixture
def stripe_settings(settings: Any, processor: Processor) -> Any:
    """The product, configured to talk to the sandbox."""
    settings.STRIPE_API_KEY = processor.api_key
    settings.STRIPE_API_BASE = processor.base_url
    settings.STRIPE_WEBHOOK_SECRETS = [processor.webhook_secret]
    return settings


@pytest.fixture
def give_back() -> Callable[..., None]:
    """A refund made in the processor's dashboard."""

    def make(effect: ToolEffect, amount: int, refund: str = "re_1", **given: Any) -> None:
        seen = refunded(refund, amount_minor=amount, **given)
        take_refund(effect_id=effect.pk, seen=seen, actor=SWEEPER, now=LATER)

    return make


@pytest.fixture
def clock(processor: Processor) -> Callable[[], datetime]:
    """The sandbox's own clock, which a test can turn: the ledger's services take it as an argument."""
    return lambda: datetime.fromtimestamp(processor.now(), UTC)


@pytest.fixture
def charge(stripe_settings: Any, processor: Processor, clock: Any) -> Callable[..., Any]:
    """Charge for a recorded call; the story is told anew where none is given."""

    def make(talk: Talk, seq: int, call_id: str, **params: Any) -> Any:
        return paying.charge(
            processor, conversation_id=talk.id, seq=seq, call_id=call_id, clock=clock, **params
        )

    return make
