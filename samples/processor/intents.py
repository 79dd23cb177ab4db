"""Payment intents: the states from created to succeeded or canceled, each move with its events."""

from samples.processor import cards, charges, refunds
from samples.processor.call import Call
from samples.processor.errors import CARD, ApiError, Body, no_such
from samples.processor.events import emit
from samples.processor.ids import mint
from samples.processor.lists import list_objects
from samples.processor.money import check_amount, check_minimum
from samples.processor.parameters import merge_metadata
from samples.processor.scheduled import later

# An authorisation by card that nobody captures goes back after seven days.
AUTHORISED_FOR_SECONDS = 7 * 24 * 3600
PLAIN = [
    "description",
    "receipt_email",
    "setup_future_usage",
    "statement_descriptor",
    "statement_descriptor_suffix",
    "transfer_group",
]
CONFIRMABLE = ("requires_payment_method", "requires_confirmation", "requires_action")
CANCELABLE = ("requires_payment_method", "requires_capture", "requires_confirmation", "requires_action")


def create_intent(call: Call) -> Body:
    check_amount(call.values["amount"], call.values["currency"])
    check_minimum(call.values["amount"], call.values["currency"])
    if "customer" in call.values:
        call.store.get("customer", call.values["customer"], param="customer")
    method = None
    if "payment_method" in call.values:
        method = cards.obtain(call, call.values["payment_method"])
    intent = _blank(call)
    if method is not None:
        intent |= {"payment_method": method["id"], "status": "requires_confirmation"}
    call.store.insert(intent, now=call.now)
    emit(call, "payment_intent.created", intent)
    return _confirm(call, intent) if call.values.get("confirm") else intent


def confirm_intent(call: Call) -> Body:
    intent = call.store.get("payment_intent", call.object_id, param="intent")
    _require_status(intent, CONFIRMABLE, done="confirmed")
    if "payment_method" in call.values:
        intent["payment_method"] = cards.obtain(call, call.values["payment_method"])["id"]
    return _confirm(call, intent)


def capture_intent(call: Call) -> Body:
    """Take all or a part; the rest of the authorisation is released as a refund of its own."""
    intent = _existing(call)
    _require_status(intent, ("requires_capture",), done="captured")
    amount: int = call.values.get("amount_to_capture") or intent["amount_capturable"]
    check_amount(amount, intent["currency"], param="amount_to_capture")
    if amount > intent["amount_capturable"]:
        raise ApiError(
            "The amount to capture is greater than the capturable amount of this PaymentIntent.",
            code="amount_too_large",
            param="amount_to_capture",
        )
    charge = call.store.get("charge", intent["latest_charge"])
    charges.capture(call, charge, amount=amount)
    if amount < charge["amount"]:
        released = charge["amount"] - amount
        refunds.give_back(call, charge, amount=released, category="partial_capture_reversal")
    intent["metadata"] = merge_metadata(intent["metadata"], call.values.get("metadata"))
    intent |= {"amount_capturable": 0, "amount_received": amount, "status": "succeeded"}
    call.store.save(intent, now=call.now)
    emit(call, "payment_intent.succeeded", intent)
    return intent


def cancel_intent(call: Call) -> Body:
    intent = _existing(call)
    _require_status(intent, CANCELABLE, done="canceled")
    _cancel(call, intent, reason=call.values.get("cancellation_reason"))
    return intent


def cancel_uncaptured(call: Call, intent_id: str) -> None:
    """The scheduled end of an authorisation."""
    intent = call.store.get("payment_intent", intent_id)
    if intent["status"] == "requires_capture":
        _cancel(call, intent, reason="automatic")


def update_intent(call: Call) -> Body:
    intent = _existing(call)
    if "customer" in call.values:
        intent["customer"] = call.store.get("customer", call.values["customer"], param="customer")["id"]
    if "payment_method" in call.values:
        intent["payment_method"] = cards.obtain(call, call.values["payment_method"])["id"]
    if "amount" in call.values:
        _require_status(intent, CONFIRMABLE, done="updated")
        check_amount(call.values["amount"], intent["currency"])
        intent["amount"] = call.values["amount"]
    intent["metadata"] = merge_metadata(intent["metadata"], call.values.get("metadata"))
    intent |= {name: call.values[name] for name in PLAIN if name in call.values}
    return call.store.save(intent, now=call.now)


def retrieve_intent(call: Call) -> Body:
    return _existing(call)


def list_intents(call: Call) -> Body:
    customer = call.values.get("customer")
    if customer is not None:
        call.store.get("customer", customer, param="customer")
    return list_objects(call, "payment_intent", url="/v1/payment_intents", equal={"customer": customer})


def _confirm(call: Call, intent: Body) -> Body:
    if intent["payment_method"] is None:
        raise ApiError(
            "You cannot confirm this PaymentIntent because it's missing a payment method. Update the "
            "PaymentIntent with a payment method and try again.",
            code="payment_intent_unexpected_state",
            payment_intent=intent,
        )
    method = call.store.get("payment_method", intent["payment_method"])
    if cards.card_of(call, method["id"]).needs_authentication:
        return _ask_for_authentication(call, intent)
    charge = charges.attempt(call, intent, method)
    intent |= {"latest_charge": charge["id"], "last_payment_error": None, "next_action": None}
    if charge["status"] == "failed":
        raise _declined(call, intent, charge, method)
    if intent["capture_method"] == "manual":
        intent |= {"status": "requires_capture", "amount_capturable": intent["amount"]}
        later(call, "authorisation_expires", intent["id"], seconds=AUTHORISED_FOR_SECONDS)
    else:
        intent |= {"status": "succeeded", "amount_received": intent["amount"]}
    call.store.save(intent, now=call.now)
    is_held = intent["status"] == "requires_capture"
    emit(call, f"payment_intent.{'amount_capturable_updated' if is_held else 'succeeded'}", intent)
    disputed_as = cards.card_of(call, method["id"]).disputed_as
    if disputed_as and not is_held:
        action = "inquiry_opens" if disputed_as == "inquiry" else "dispute_opens"
        later(call, action, charge["id"], seconds=0)
    return intent


def _ask_for_authentication(call: Call, intent: Body) -> Body:
    redirect = {"return_url": None, "url": "https://hooks.stripe.com/3d_secure_2/hosted"}
    intent |= {
        "status": "requires_action",
        "next_action": {"redirect_to_url": redirect, "type": "redirect_to_url"},
    }
    call.store.save(intent, now=call.now)
    emit(call, "payment_intent.requires_action", intent)
    return intent


def _declined(call: Call, intent: Body, charge: Body, method: Body) -> ApiError:
    """A declined attempt leaves its failed charge and an intent that may be tried again."""
    refusal = ApiError(
        charge["failure_message"],
        status=402,
        kind=CARD,
        code=charge["failure_code"],
        keeps_writes=True,
        charge=charge["id"],
        decline_code=charge["outcome"]["reason"],
        payment_method=method,
    )
    intent |= {
        "last_payment_error": dict(refusal.body["error"]),
        "payment_method": None,
        "status": "requires_payment_method",
    }
    call.store.save(intent, now=call.now)
    emit(call, "payment_intent.payment_failed", intent)
    refusal.body["error"]["payment_intent"] = intent
    return refusal


def _cancel(call: Call, intent: Body, *, reason: str | None) -> None:
    if intent["status"] == "requires_capture":
        charge = call.store.get("charge", intent["latest_charge"])
        charges.release(call, charge, has_expired=reason == "automatic")
    intent |= {
        "amount_capturable": 0,
        "canceled_at": call.now,
        "cancellation_reason": reason,
        "status": "canceled",
    }
    call.store.save(intent, now=call.now)
    emit(call, "payment_intent.canceled", intent)


def _existing(call: Call) -> Body:
    intent = call.store.find("payment_intent", call.object_id)
    if intent is None:
        raise no_such("payment_intent", call.object_id, param="intent")
    return intent


def _require_status(intent: Body, allowed: tuple[str, ...], *, done: str) -> None:
    if intent["status"] not in allowed:
        raise ApiError(
            f"This PaymentIntent could not be {done} because it has a status of {intent['status']}. Only a "
            f"PaymentIntent with one of the following statuses may be {done}: {', '.join(allowed)}.",
            code="payment_intent_unexpected_state",
            payment_intent=intent,
        )


# Fields that are empty in a new intent; some of them for good, in a sandbox of cards only.
EMPTY_AT_FIRST = (
    "application",
    "application_fee_amount",
    "canceled_at",
    "cancellation_reason",
    "customer_account",
    "excluded_payment_method_types",
    "last_payment_error",
    "latest_charge",
    "next_action",
    "on_behalf_of",
    "payment_method",
    "payment_method_configuration_details",
    "processing",
    "review",
    "shipping",
    "source",
    "transfer_data",
)


def _blank(call: Call) -> Body:
    values = call.values
    intent_id = call.id_for("payment_intent", "pi_3")
    return {
        "id": intent_id,
        "object": "payment_intent",
        **dict.fromkeys(EMPTY_AT_FIRST),
        "amount": values["amount"],
        "amount_capturable": 0,
        "amount_details": {"tip": {}},
        "amount_received": 0,
        "automatic_payment_methods": values.get("automatic_payment_methods"),
        "capture_method": values.get("capture_method", "automatic_async"),
        "client_secret": f"{intent_id}_secret_{mint('', 25)}",
        "confirmation_method": values.get("confirmation_method", "automatic"),
        "created": call.now,
        "currency": values["currency"],
        "customer": values.get("customer"),
        "livemode": False,
        "metadata": merge_metadata({}, values.get("metadata")),
        "payment_method_options": {
            "card": {
                "installments": None,
                "mandate_options": None,
                "network": None,
                "request_three_d_secure": "automatic",
            }
        },
        "payment_method_types": values.get("payment_method_types", ["card"]),
        "status": "requires_payment_method",
        **{name: values.get(name) for name in PLAIN},
    }
