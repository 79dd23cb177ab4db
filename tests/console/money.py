"""Effects for the console's tests: a call that charged, settled by the processor's answer."""

from datetime import datetime, timedelta
from typing import Any

from access.actors import Actor, ActorKind
from conversations.models import Conversation
from ledger.models import ToolEffect
from ledger.services.beginning import begin_effect
from ledger.services.policies import save_policy
from ledger.services.sending import mark_sent
from ledger.services.settling import settle_effect
from tests.console.conftest import NOW
from tests.conversations.drafts import call
from tests.ledger.seen import charged

AGENT = Actor(ActorKind.APPLICATION, "travel-agent")
CHARGE = '{"order": 1042, "amount": 1900, "currency": "usd"}'


def register_tool(conversation: Conversation, user: Any, name: str = "charge_card", **values: Any) -> Any:
    """Register a tool that charges by its arguments; the second charge asks."""
    given = {
        "effectful": "yes",
        "replay_policy": "ask",
        "key_scope": "branch_root",
        "operation": "charge",
        "processor": "stripe",
        "amount_path": "amount",
        "currency_path": "currency",
        **values,
    }
    return save_policy(realm=conversation.account.realm, name=name, user=user, now=NOW, **given)


def charging(call_id: str, amount: int = 1900, currency: str = "usd", name: str = "charge_card") -> Any:
    return call(call_id, name, f'{{"amount": {amount}, "currency": "{currency}"}}')


def begin(conversation: Conversation, seq: int, call_id: str, *, now: datetime = NOW) -> ToolEffect:
    """Begin the effect of a recorded call; nothing is sent."""
    begun = begin_effect(conversation_id=conversation.pk, seq=seq, call_id=call_id, actor=AGENT, now=now)
    assert begun.effect is not None, begun
    return begun.effect


def settle(effect: ToolEffect, charge: str = "ch_1", *, now: datetime = NOW, **seen: Any) -> ToolEffect:
    """Send and settle an effect, as the processor's answer has it."""
    mark_sent(effect_id=effect.pk, now=now)
    facts = {"amount_minor": effect.amount_minor, "currency": effect.currency, **seen}
    settle_effect(
        effect_id=effect.pk,
        seen=charged(charge, intent=f"pi_{charge}", **facts),
        actor=AGENT,
        now=now + timedelta(seconds=1),
    )
    effect.refresh_from_db()
    return effect
