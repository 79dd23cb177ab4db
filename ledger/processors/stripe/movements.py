"""Everything that moved in a time window, by Stripe's own lists: what the ledger is compared with."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

import stripe

from ledger.evidence import DisputeSeen, Movement, OutcomeSeen, RefundSeen
from ledger.processors.stripe import objects
from ledger.processors.stripe.calls import every
from ledger.vocabulary import EffectState, EvidenceSource


def movements(client: stripe.StripeClient, *, since: datetime, until: datetime) -> Iterator[Movement]:
    """List charges, refunds and disputes made in the window, each in the charge's own currency.

    What moved nothing is left out: declined and uncaptured charges, and what a
    partial capture released. A refund that failed stands with its status.
    """
    window = {"created": {"gte": int(since.timestamp()), "lt": int(until.timestamp())}}
    for charge in every(client.v1.charges.list, window):
        seen = objects.charge_seen(charge, source=EvidenceSource.LIST)
        if seen.outcome == EffectState.APPLIED:
            yield _of_charge(seen)
    expanded = {**window, "expand": ["data.balance_transaction"]}
    for refund in every(client.v1.refunds.list, expanded):
        given_back = objects.refund_seen(refund, source=EvidenceSource.LIST)
        if not given_back.is_release:
            yield _of_refund(given_back)
    for dispute in every(client.v1.disputes.list, window):
        yield _of_dispute(objects.dispute_seen(dispute, source=EvidenceSource.LIST))


def _of_charge(seen: OutcomeSeen) -> Movement:
    references = {str(kind): reference for kind, reference in seen.references}
    return _movement(
        "charge", seen, charge_ref=seen.reference, intent_ref=references.get("intent", ""), compensation=None
    )


def _of_refund(seen: RefundSeen) -> Movement:
    return _movement(
        "refund",
        seen,
        charge_ref=seen.charge_ref,
        intent_ref=seen.intent_ref,
        compensation=seen.compensation_id,
    )


def _of_dispute(seen: DisputeSeen) -> Movement:
    return _movement(
        "dispute", seen, charge_ref=seen.charge_ref, intent_ref=seen.intent_ref, compensation=None
    )


def _movement(
    kind: str,
    seen: OutcomeSeen | RefundSeen | DisputeSeen,
    *,
    charge_ref: str,
    intent_ref: str,
    compensation: UUID | None,
) -> Movement:
    if seen.occurred_at is None or seen.amount_minor is None:
        raise ValueError(f"{seen.reference} has no time or no amount")
    return Movement(
        kind=kind,
        reference=seen.reference,
        charge_ref=charge_ref,
        intent_ref=intent_ref,
        amount_minor=seen.amount_minor,
        currency=seen.currency,
        status=seen.status,
        occurred_at=seen.occurred_at,
        effect_id=seen.effect_id,
        compensation_id=compensation,
    )
