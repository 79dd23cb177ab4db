"""Stripe as an adapter of the ledger: looks, refunds, lists. See docs/ledger.md for the order of looking."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import stripe

from ledger.evidence import Found, Movement, RefundSeen
from ledger.processors.protocol import (
    NotToldError,
    OutcomeUnknownError,
    RefundOrder,
    RefusedError,
    Sought,
)
from ledger.processors.stripe import finding, movements, objects
from ledger.processors.stripe.calls import every, make_client, plain, read
from ledger.processors.stripe.refusals import code_of
from ledger.vocabulary import EvidenceSource

# What Stripe calls the reasons that people may choose; it takes no others.
_REASONS = {"duplicate": "duplicate", "fraud": "fraudulent", "customer_request": "requested_by_customer"}


class StripeAdapter:
    def __init__(self, *, api_key: str, api_base: str = "", timeout: int = 30) -> None:
        self.client = make_client(api_key=api_key, api_base=api_base, timeout=timeout)

    def find(self, sought: Sought) -> Found:
        return finding.find(self.client, sought)

    def find_refunds(self, *, charge_ref: str) -> Sequence[RefundSeen]:
        name = "payment_intent" if charge_ref.startswith("pi_") else "charge"
        params = {name: charge_ref, "expand": ["data.balance_transaction"]}
        try:
            return [
                objects.refund_seen(refund, source=EvidenceSource.LIST)
                for refund in every(self.client.v1.refunds.list, params)
            ]
        except stripe.InvalidRequestError as error:
            # Another account's key, or a charge it does not know: nothing is certain.
            raise NotToldError(f"{charge_ref}: {error.user_message}") from error

    def refund(self, order: RefundOrder) -> RefundSeen:
        name = "payment_intent" if order.charge_ref.startswith("pi_") else "charge"
        params: Any = {
            name: order.charge_ref,
            "amount": order.amount_minor,
            "metadata": dict(order.metadata),
        }
        if order.reason in _REASONS:
            params["reason"] = _REASONS[order.reason]
        try:
            made = self.client.v1.refunds.create(params, {"idempotency_key": order.idempotency_key})
        except stripe.InvalidRequestError as error:
            raise RefusedError(code_of(error), explanation=error.user_message or "") from error
        except stripe.StripeError as error:
            raise OutcomeUnknownError(f"{type(error).__name__}: {error.user_message}") from error
        return objects.refund_seen(plain(made), source=EvidenceSource.ANSWER)

    def is_release(self, refund: RefundSeen) -> bool:
        try:
            found = read(
                lambda: self.client.v1.refunds.retrieve(refund.reference, {"expand": ["balance_transaction"]})
            )
        except stripe.InvalidRequestError as error:
            raise NotToldError(f"{refund.reference}: {error.user_message}") from error
        return bool(objects.refund_seen(plain(found), source=EvidenceSource.RETRIEVE).is_release)

    def events(self, *, since: datetime, until: datetime) -> Iterator[Mapping[str, Any]]:
        window = {"gte": int(since.timestamp()), "lt": int(until.timestamp())}
        yield from every(self.client.v1.events.list, {"created": window})

    def movements(self, *, since: datetime, until: datetime) -> Iterator[Movement]:
        return movements.movements(self.client, since=since, until=until)
