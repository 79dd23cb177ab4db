"""Evidence as short as a test needs it."""

from typing import Any

from access.actors import Actor, ActorKind
from ledger.evidence import DisputeSeen, OutcomeSeen, RefundSeen
from ledger.vocabulary import EffectState, EvidenceSource, ReferenceKind
from tests.conversations.conftest import NOW

AGENT = Actor(ActorKind.APPLICATION, "travel-agent")


def charged(charge: str = "ch_1", *, intent: str = "pi_1", **given: Any) -> OutcomeSeen:
    """The processor's answer: 19.00 USD were taken, unless told otherwise."""
    facts = {
        "processor": "stripe",
        "source": EvidenceSource.ANSWER,
        "reference": charge,
        "status": "succeeded",
        "currency": "usd",
        "amount_minor": 1900,
        "occurred_at": NOW,
        "outcome": EffectState.APPLIED,
        "references": [(ReferenceKind.CHARGE, charge), (ReferenceKind.INTENT, intent)],
        **given,
    }
    return OutcomeSeen(**facts)


def declined(charge: str = "ch_0", *, intent: str = "pi_1", **given: Any) -> OutcomeSeen:
    return charged(
        charge,
        intent=intent,
        **{"outcome": EffectState.FAILED, "status": "card_declined", "amount_minor": None, **given},
    )


def refunded(refund: str = "re_1", *, charge: str = "ch_1", **given: Any) -> RefundSeen:
    """The processor shows a refund of 10.00 USD, unless told otherwise."""
    facts = {
        "processor": "stripe",
        "source": EvidenceSource.WEBHOOK,
        "reference": refund,
        "status": "succeeded",
        "currency": "usd",
        "amount_minor": 1000,
        "occurred_at": NOW,
        "charge_ref": charge,
        "outcome": EffectState.APPLIED,
        "is_release": False,
        **given,
    }
    return RefundSeen(**facts)


def disputed(status: str = "needs_response", **given: Any) -> DisputeSeen:
    """The processor shows a dispute of ch_1 over 19.00 USD, open unless told otherwise."""
    facts = {
        "processor": "stripe",
        "source": EvidenceSource.WEBHOOK,
        "reference": "dp_1",
        "status": status,
        "currency": "usd",
        "amount_minor": 1900,
        "occurred_at": NOW,
        "charge_ref": "ch_1",
        "opened_at": NOW,
        "is_open": True,
        **given,
    }
    return DisputeSeen(**facts)
