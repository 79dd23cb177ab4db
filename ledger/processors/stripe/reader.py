"""Reading what Stripe sent: events and answers, without asking it anything."""

from collections.abc import Mapping
from typing import Any

from ledger.evidence import OutcomeSeen, RefundSeen
from ledger.processors.protocol import Heard, ReadEvent
from ledger.processors.stripe import events, objects, refusals
from ledger.vocabulary import EvidenceSource


class StripeReader:
    def read_event(self, event: Mapping[str, Any]) -> ReadEvent:
        return events.read_event(event, source=EvidenceSource.WEBHOOK)

    def read_answer(self, answer: Mapping[str, Any]) -> OutcomeSeen | None:
        kind = answer.get("object")
        if kind == "payment_intent":
            return objects.intent_seen(answer, source=EvidenceSource.ANSWER)
        if kind == "charge":
            return objects.charge_seen(answer, source=EvidenceSource.ANSWER)
        if kind == "refund":
            return objects.refund_outcome(objects.refund_seen(answer, source=EvidenceSource.ANSWER))
        return None

    def unreadable_member(self, answer: Mapping[str, Any]) -> str:
        return objects.unreadable_member(answer)

    def read_refusal(self, *, status: int, body: Mapping[str, Any], request_id: str) -> Heard:
        return refusals.read_refusal(status=status, body=body, request_id=request_id)

    def outcome_of_refund(self, refund: RefundSeen) -> OutcomeSeen:
        return objects.refund_outcome(refund)
