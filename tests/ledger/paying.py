"""An application that charges through Stripe's own SDK, wrapped as docs/ledger.md shows."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from ledger.wrapper import Sending, effect
from samples.processor.process import Processor
from tests.ledger.seen import AGENT


def charge(
    processor: Processor,
    *,
    conversation_id: UUID,
    seq: int,
    call_id: str,
    amount: int = 1900,
    currency: str = "usd",
    clock: Callable[[], datetime],
    **params: Any,
) -> Sending:
    """Charge a card if the guard allows it; whatever Stripe raises is raised on."""
    wanted = {"amount": amount, "currency": currency, "payment_method": "pm_card_visa", "confirm": True}
    with effect(
        conversation_id=conversation_id, seq=seq, call_id=call_id, actor=AGENT, clock=clock
    ) as sending:
        if sending.may_send:
            intent = processor.client().v1.payment_intents.create(
                {**wanted, **params, "metadata": sending.metadata}, sending.options
            )
            sending.answered(intent)
    return sending
