"""Charges: one attempt to take a payment intent's money each, and what later became of it."""

from samples.processor import balance, cards
from samples.processor.call import Call
from samples.processor.errors import Body
from samples.processor.events import emit
from samples.processor.ids import mint
from samples.processor.lists import list_objects
from samples.processor.parameters import merge_metadata

# What a charge takes over from its intent, as it stood at the attempt.
COPIED = (
    "amount",
    "currency",
    "customer",
    "description",
    "metadata",
    "receipt_email",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_group",
)
RECEIPTS = "https://pay.stripe.com/receipts/payment/"


def attempt(call: Call, intent: Body, method: Body) -> Body:
    """Charge the intent's amount to the method's card; failed, only authorised, or captured."""
    card = cards.card_of(call, method["id"])
    charge = _blank(call, intent, method)
    if card.declined_as:
        charge |= _declined(card)
        call.store.insert(charge, now=call.now)
        emit(call, "charge.failed", charge)
        return charge
    charge["receipt_url"] = RECEIPTS + mint("", 40)
    call.store.insert(charge, now=call.now)
    if intent["capture_method"] != "manual":
        _take(call, charge, amount=charge["amount"])
    emit(call, "charge.succeeded", charge)
    return charge


def capture(call: Call, charge: Body, *, amount: int) -> None:
    """Take `amount` of what was authorised. The caller releases the rest."""
    _take(call, charge, amount=amount)
    emit(call, "charge.captured", charge)


def release(call: Call, charge: Body, *, has_expired: bool) -> None:
    """Give the authorisation back without having taken anything: nothing moves on the balance."""
    charge |= {"amount_refunded": charge["amount"], "refunded": True}
    call.store.save(charge, now=call.now)
    if has_expired:
        emit(call, "charge.expired", charge)
    else:
        emit(call, "charge.refunded", charge, previous={"amount_refunded": 0, "refunded": False})


def _take(call: Call, charge: Body, *, amount: int) -> None:
    # The row shows the whole authorisation; a partial capture enters its reversal as a second one.
    row = balance.enter(
        call,
        source=charge["id"],
        amount=charge["amount"],
        currency=charge["currency"],
        kind="charge",
        category="charge",
        description=charge["description"],
    )
    charge |= {"amount_captured": amount, "balance_transaction": row["id"], "captured": True}
    call.store.save(charge, now=call.now)


def _declined(card: cards.Card) -> Body:
    message = cards.DECLINE_MESSAGES[card.decline_code]
    return {
        "failure_code": card.declined_as,
        "failure_message": message,
        "outcome": {
            "advice_code": "try_again_later",
            "network_advice_code": None,
            "network_decline_code": "05",
            "network_status": "declined_by_network",
            "reason": card.decline_code,
            "risk_level": "normal",
            "seller_message": "The bank did not return any further details with this decline.",
            "type": "issuer_declined",
        },
        "paid": False,
        "status": "failed",
    }


# Fields that are empty in a new charge; some of them for good, in a sandbox of cards only.
EMPTY_AT_FIRST = (
    "application",
    "application_fee",
    "application_fee_amount",
    "balance_transaction",
    "failure_balance_transaction",
    "failure_code",
    "failure_message",
    "on_behalf_of",
    "receipt_number",
    "receipt_url",
    "review",
    "shipping",
    "source",
    "source_transfer",
    "transfer_data",
)


def _blank(call: Call, intent: Body, method: Body) -> Body:
    return {
        "id": call.id_for("charge", "ch_3"),
        "object": "charge",
        **dict.fromkeys(EMPTY_AT_FIRST),
        "amount_captured": 0,
        "amount_refunded": 0,
        "billing_details": cards.billing_details(),
        "calculated_statement_descriptor": "COUNTERFOIL SANDBOX",
        "captured": False,
        "created": call.now,
        "disputed": False,
        "fraud_details": {},
        "livemode": False,
        "outcome": {
            "advice_code": None,
            "network_advice_code": None,
            "network_decline_code": None,
            "network_status": "approved_by_network",
            "reason": None,
            "risk_level": "normal",
            "seller_message": "Payment complete.",
            "type": "authorized",
        },
        "paid": True,
        "payment_intent": intent["id"],
        "payment_method": method["id"],
        "payment_method_details": cards.charge_details(method),
        "radar_options": {},
        "refunded": False,
        "status": "succeeded",
        **{name: intent[name] for name in COPIED},
    }


def update_charge(call: Call) -> Body:
    charge = call.store.get("charge", call.object_id)
    previous: Body = {name: charge[name] for name in ("metadata", "description") if name in call.values}
    charge["metadata"] = merge_metadata(charge["metadata"], call.values.get("metadata"))
    charge["description"] = call.values.get("description", charge["description"])
    call.store.save(charge, now=call.now)
    emit(call, "charge.updated", charge, previous=previous)
    return charge


def retrieve_charge(call: Call) -> Body:
    return call.store.get("charge", call.object_id)


def list_charges(call: Call) -> Body:
    equal = {name: call.values.get(name) for name in ("payment_intent", "customer", "transfer_group")}
    for kind in ("payment_intent", "customer"):
        if kind in call.values:
            call.store.get(kind, call.values[kind], param=kind)
    return list_objects(call, "charge", url="/v1/charges", equal=equal)
