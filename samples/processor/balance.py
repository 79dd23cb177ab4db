"""Balance transactions: what each movement did to the account's balance.

Amounts stand in the currency the account settles in, which is the charge's own unless a rate was
set: then the row carries the converted amount and its exchange rate, as on the real service.
"""

from decimal import Decimal

from samples.processor.call import Call
from samples.processor.errors import Body
from samples.processor.ids import mint
from samples.processor.lists import list_objects
from samples.processor.money import convert, dispute_fee, processing_fee

AVAILABLE_AFTER_SECONDS = 2 * 24 * 3600


def enter(
    call: Call,
    *,
    source: str,
    amount: int,
    currency: str,
    kind: str,
    category: str,
    description: str | None,
    fee: int | None = None,
    fee_description: str = "",
) -> Body:
    """Add one row; `amount` is in `currency`, a given `fee` already in the settlement currency."""
    gross, settled_in, rate = _settle(call, amount, currency)
    if fee is None:
        fee, fee_description = processing_fee(gross, settled_in), "Stripe processing fees"
    row: Body = {
        "id": mint("txn_3"),
        "object": "balance_transaction",
        "amount": gross,
        "available_on": call.now + AVAILABLE_AFTER_SECONDS,
        "balance_type": "payments",
        "created": call.now,
        "currency": settled_in,
        "description": description,
        # A JSON number on the wire; money itself is never one with a fraction.
        "exchange_rate": None if rate is None else float(rate),
        "fee": fee,
        "fee_details": [_fee_detail(fee, settled_in, fee_description)] if fee else [],
        "net": gross - fee,
        "reporting_category": category,
        "source": source,
        "status": "pending",
        "type": kind,
    }
    return call.store.insert(row, now=call.now)


def enter_dispute(call: Call, dispute: Body, *, is_reversal: bool) -> Body:
    """The withdrawal, or its return, each with the fee for disputes."""
    _, settled_in, _ = _settle(call, dispute["amount"], dispute["currency"])
    sign = 1 if is_reversal else -1
    return enter(
        call,
        source=dispute["id"],
        amount=sign * dispute["amount"],
        currency=dispute["currency"],
        kind="adjustment",
        category="dispute_reversal" if is_reversal else "dispute",
        description=f"Chargeback {'reversal' if is_reversal else 'withdrawal'} for {dispute['charge']}",
        fee=-sign * dispute_fee(settled_in),
        fee_description="Dispute fee refund" if is_reversal else "Dispute fee",
    )


def _fee_detail(fee: int, currency: str, description: str) -> Body:
    return {
        "amount": fee,
        "application": None,
        "currency": currency,
        "description": description,
        "type": "stripe_fee",
    }


def _settle(call: Call, amount: int, currency: str) -> tuple[int, str, Decimal | None]:
    settlement: Body = call.store.setting("settlement", {"currency": None, "rates": {}})
    rate = settlement["rates"].get(currency)
    if rate is None:
        return amount, currency, None
    target = settlement["currency"]
    return convert(amount, currency, target, Decimal(rate)), target, Decimal(rate)


def retrieve_balance_transaction(call: Call) -> Body:
    return call.store.get("balance_transaction", call.object_id)


def list_balance_transactions(call: Call) -> Body:
    names = ("source", "type", "currency")
    equal = {name: call.values.get(name) for name in names}
    return list_objects(call, "balance_transaction", url="/v1/balance_transactions", equal=equal)
