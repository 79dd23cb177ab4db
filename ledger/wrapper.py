"""What an application wraps around its call to the processor, where it runs in this process.

    with effect(conversation_id=…, seq=…, call_id=…, actor=…) as sending:
        if sending.may_send:
            intent = stripe_client.v1.payment_intents.create(
                {"amount": 1900, "currency": "usd", "metadata": sending.metadata}, sending.options
            )
            sending.answered(intent)
    outcome = sending.effect

It refuses to run inside a transaction. Where nothing may be sent, key and metadata refuse to be
read, so that a forgotten `if` sends nothing. An exception of Stripe's that says what became of the
request settles the effect and is raised on; one that does not leaves it open for the sweeper.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from access.actors import Actor
from ledger.errors import NotSendableError
from ledger.evidence import EFFECT_METADATA, KEY_METADATA
from ledger.models import ToolEffect
from ledger.processors import STRIPE
from ledger.processors.stripe.refusals import read_error
from ledger.services.beginning import Begun, begin_effect
from ledger.services.hearing import work_on_what_waited
from ledger.services.sending import (
    mark_sent,
    refuse_inside_transaction,
    settle_by_answer,
    settle_by_refusal,
    settle_by_report,
)
from ledger.vocabulary import EffectState, Operation


class Sending:
    """The guard's answer, and the means to send if it allows that."""

    def __init__(self, begun: Begun, *, actor: Actor, clock: Callable[[], datetime]) -> None:
        self.begun = begun
        self._actor, self._clock = actor, clock

    @property
    def may_send(self) -> bool:
        """Whether the request may leave. False for a replay, a question, and a repeated key."""
        return self.begun.may_send

    @property
    def effect(self) -> ToolEffect | None:
        """The call's effect as it stands now; of a replay, the one whose outcome counts."""
        if self.begun.effect is not None:
            self.begun.effect.refresh_from_db()
        return self.begun.effect

    @property
    def key(self) -> str:
        return self._sendable().idempotency_key

    @property
    def options(self) -> dict[str, str]:
        """What Stripe's SDK takes beside the parameters."""
        return {"idempotency_key": self.key}

    @property
    def metadata(self) -> dict[str, str]:
        """What must go along with the request, so that it can be found again by it."""
        return {EFFECT_METADATA: str(self._sendable().pk), KEY_METADATA: self.key}

    def answered(self, answer: Any) -> None:
        """Settle from the processor's own answer: an object of its SDK, or the same as a mapping."""
        plain = answer.to_dict() if hasattr(answer, "to_dict") else dict(answer)
        effect = self._sendable()
        settle_by_answer(
            effect_id=effect.pk,
            answer=plain,
            body=json.dumps(plain, separators=(",", ":"), default=str).encode(),
            actor=self._actor,
            now=self._clock(),
        )
        work_on_what_waited(effect=effect, now=self._clock())

    def reported(self, *, outcome: EffectState, reference: str, **facts: Any) -> None:
        """Settle from what a processor without an adapter answered; `reference` is its own id for it."""
        settle_by_report(
            effect_id=self._sendable().pk,
            outcome=outcome,
            reference=reference,
            actor=self._actor,
            now=self._clock(),
            **facts,
        )

    def _sendable(self) -> ToolEffect:
        if not self.may_send or self.begun.effect is None:
            raise NotSendableError(
                "not-to-be-sent", f"the guard said {self.begun.answer} ({self.begun.reason})"
            )
        return self.begun.effect


@contextmanager
def effect(
    *,
    conversation_id: UUID,
    seq: int,
    call_id: str,
    actor: Actor,
    operation: Operation | None = None,
    amount_minor: int | None = None,
    currency: str = "",
    find_by: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = timezone.now,
) -> Iterator[Sending]:
    """Begin the call's effect and, if it may be sent, commit that it is about to be.

    Raises InsideTransactionError inside a transaction, and whatever begin raises.
    """
    refuse_inside_transaction(place=f"conversation {conversation_id}, message {seq}, call {call_id}")
    begun = begin_effect(
        conversation_id=conversation_id,
        seq=seq,
        call_id=call_id,
        actor=actor,
        now=clock(),
        operation=operation,
        amount_minor=amount_minor,
        currency=currency,
        find_by=find_by,
    )
    if begun.may_send and begun.effect is not None:
        mark_sent(effect_id=begun.effect.pk, now=clock())
    sending = Sending(begun, actor=actor, clock=clock)
    try:
        yield sending
    except Exception as error:
        if begun.may_send and begun.effect is not None and begun.effect.processor == STRIPE:
            heard = read_error(error)
            settle_by_refusal(effect_id=begun.effect.pk, heard=heard, actor=actor, now=clock())
        raise
