"""Stripe's test payment methods: which card behaves how. No card number is ever taken."""

from dataclasses import dataclass

from samples.processor.call import Call
from samples.processor.errors import Body
from samples.processor.ids import mint


@dataclass(frozen=True)
class Card:
    brand: str = "visa"
    last4: str = "4242"
    declined_as: str = ""
    decline_code: str = ""
    needs_authentication: bool = False
    refund_fails: bool = False
    refund_waits: bool = False
    disputed_as: str = ""


CARDS = {
    "pm_card_visa": Card(),
    "pm_card_mastercard": Card(brand="mastercard", last4="4444"),
    "pm_card_visa_chargeDeclined": Card(
        last4="0002", declined_as="card_declined", decline_code="generic_decline"
    ),
    "pm_card_visa_chargeDeclinedInsufficientFunds": Card(
        last4="9995", declined_as="card_declined", decline_code="insufficient_funds"
    ),
    "pm_card_chargeDeclinedExpiredCard": Card(
        last4="0069", declined_as="expired_card", decline_code="expired_card"
    ),
    "pm_card_authenticationRequired": Card(last4="3184", needs_authentication=True),
    "pm_card_refundFail": Card(last4="5126", refund_fails=True),
    "pm_card_pendingRefund": Card(last4="7726", refund_waits=True),
    "pm_card_createDispute": Card(last4="0259", disputed_as="fraudulent"),
    "pm_card_createDisputeInquiry": Card(last4="1976", disputed_as="inquiry"),
}
CARDS["pm_card_chargeDeclined"] = CARDS["pm_card_visa_chargeDeclined"]
CARDS["pm_card_chargeDeclinedInsufficientFunds"] = CARDS["pm_card_visa_chargeDeclinedInsufficientFunds"]

DECLINE_MESSAGES = {
    "generic_decline": "Your card was declined.",
    "insufficient_funds": "Your card has insufficient funds.",
    "expired_card": "Your card has expired.",
}


def obtain(call: Call, token: str) -> Body:
    """The payment method of that id; a test name makes a new one, as in Stripe's test mode."""
    if token not in CARDS:
        return call.store.get("payment_method", token, param="payment_method")
    card = CARDS[token]
    method: Body = {
        "id": mint("pm_1"),
        "object": "payment_method",
        "billing_details": billing_details(),
        "card": {
            "brand": card.brand,
            "country": "US",
            "exp_month": 12,
            "exp_year": 2034,
            "fingerprint": mint("", 16),
            "funding": "credit",
            "last4": card.last4,
        },
        "created": call.now,
        "customer": None,
        "livemode": False,
        "metadata": {},
        "type": "card",
    }
    return call.store.insert(method, now=call.now, hidden={"card": token})


def retrieve_method(call: Call) -> Body:
    return call.store.get("payment_method", call.object_id)


def attach_method(call: Call) -> Body:
    """Keep the card with a customer; a test name makes a new one first."""
    customer = call.store.get("customer", call.values["customer"], param="customer")
    method = obtain(call, call.object_id)
    return call.store.save({**method, "customer": customer["id"]}, now=call.now)


def card_of(call: Call, method_id: str) -> Card:
    return CARDS[call.store.hidden(method_id)["card"]]


def billing_details() -> Body:
    return {
        "address": {
            "city": None,
            "country": None,
            "line1": None,
            "line2": None,
            "postal_code": None,
            "state": None,
        },
        "email": None,
        "name": None,
        "phone": None,
        "tax_id": None,
    }


def charge_details(method: Body) -> Body:
    """`payment_method_details` of a charge."""
    card = method["card"]
    return {
        "card": {
            "amount_authorized": None,
            "authorization_code": None,
            "brand": card["brand"],
            "checks": {"address_line1_check": None, "address_postal_code_check": None, "cvc_check": "pass"},
            "country": card["country"],
            "exp_month": card["exp_month"],
            "exp_year": card["exp_year"],
            "extended_authorization": {"status": "disabled"},
            "fingerprint": card["fingerprint"],
            "funding": card["funding"],
            "incremental_authorization": {"status": "unavailable"},
            "installments": None,
            "last4": card["last4"],
            "mandate": None,
            "multicapture": {"status": "unavailable"},
            "network": card["brand"],
            "network_token": {"used": False},
            "network_transaction_id": mint("", 15),
            "overcapture": {"maximum_amount_capturable": None, "status": "unavailable"},
            "regulated_status": "unregulated",
            "three_d_secure": None,
            "transaction_link_id": None,
            "wallet": None,
        },
        "type": "card",
    }
