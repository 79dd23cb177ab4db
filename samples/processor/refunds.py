"""Refunds: of a part or of all that is left, and what may go wrong with them days later."""

from samples.processor import balance, cards
from samples.processor.call import Call
from samples.processor.errors import ApiError, Body
from samples.processor.events import emit
from samples.processor.lists import list_objects
from samples.processor.money import check_amount, shown
from samples.processor.parameters import merge_metadata
from samples.processor.scheduled import later

FAILS_AFTER_SECONDS = 2 * 24 * 3600
SUCCEEDS_AFTER_SECONDS = 3600
FAILURE_REASONS = frozenset(
    (
        "charge_for_pending_refund_disputed",
        "declined",
        "expired_or_canceled_card",
        "insufficient_funds",
        "lost_or_stolen_card",
        "merchant_request",
        "unknown",
    )
)


def create_refund(call: Call) -> Body:
    charge = _charge_to_refund(call)
    left = charge["amount"] - charge["amount_refunded"]
    amount = call.values.get("amount", left)
    _refuse_if_impossible(call, charge, amount=amount, left=left)
    card = cards.card_of(call, charge["payment_method"])
    refund = give_back(
        call,
        charge,
        amount=amount,
        category="refund",
        reason=call.values.get("reason"),
        metadata=merge_metadata({}, call.values.get("metadata")),
        status="pending" if card.refund_waits else "succeeded",
    )
    if card.refund_fails:
        later(call, "refund_fails", refund["id"], seconds=FAILS_AFTER_SECONDS)
    if card.refund_waits:
        later(call, "refund_succeeds", refund["id"], seconds=SUCCEEDS_AFTER_SECONDS)
    return refund


def give_back(
    call: Call,
    charge: Body,
    *,
    amount: int,
    category: str,
    reason: str | None = None,
    metadata: dict[str, str] | None = None,
    status: str = "succeeded",
) -> Body:
    """Make the refund, its balance row and its events. A partial capture releases its rest with it."""
    refund = _blank(call, charge, amount=amount, reason=reason, metadata=metadata or {}, status=status)
    refund["balance_transaction"] = balance.enter(
        call,
        source=refund["id"],
        amount=-amount,
        currency=charge["currency"],
        kind="refund",
        category=category,
        description=f"REFUND FOR CHARGE ({charge['description']})" if charge["description"] else None,
        fee=0,
    )["id"]
    call.store.insert(refund, now=call.now)
    previous = {"amount_refunded": charge["amount_refunded"], "refunded": charge["refunded"]}
    _set_refunded(call, charge, charge["amount_refunded"] + amount)
    emit(call, "refund.created", refund)
    emit(call, "charge.refunded", charge, previous=previous)
    return refund


def fail_refund(call: Call, refund_id: str, reason: str = "expired_or_canceled_card") -> Body:
    """The bank sent the money back: it returns to the balance as a row of its own."""
    refund = call.store.get("refund", refund_id)
    if refund["status"] not in ("pending", "requires_action", "succeeded"):
        raise ApiError(f"Refund {refund_id} is already {refund['status']}.")
    if reason not in FAILURE_REASONS:
        raise ApiError(
            f"Unknown failure reason. There are: {', '.join(sorted(FAILURE_REASONS))}", param="reason"
        )
    previous = {"status": refund["status"]}
    row = balance.enter(
        call,
        source=refund_id,
        amount=refund["amount"],
        currency=refund["currency"],
        kind="refund_failure",
        category="refund_failure",
        description=f"REFUND FAILURE FOR CHARGE ({refund['charge']})",
        fee=0,
    )
    refund |= {"status": "failed", "failure_reason": reason, "failure_balance_transaction": row["id"]}
    call.store.save(refund, now=call.now)
    charge = call.store.get("charge", refund["charge"])
    _set_refunded(call, charge, charge["amount_refunded"] - refund["amount"])
    emit(call, "refund.failed", refund)
    emit(call, "refund.updated", refund, previous=previous)
    emit(call, "charge.refund.updated", refund, previous=previous)
    return refund


def succeed_refund(call: Call, refund_id: str) -> None:
    refund = call.store.get("refund", refund_id)
    if refund["status"] != "pending":
        return
    refund["status"] = "succeeded"
    call.store.save(refund, now=call.now)
    emit(call, "refund.updated", refund, previous={"status": "pending"})
    emit(call, "charge.refund.updated", refund, previous={"status": "pending"})


def fail_by_itself(call: Call, refund_id: str) -> None:
    """The scheduled failure; nothing to do if somebody asked for it sooner."""
    if call.store.get("refund", refund_id)["status"] != "failed":
        fail_refund(call, refund_id)


def update_refund(call: Call) -> Body:
    refund = call.store.get("refund", call.object_id)
    previous = {"metadata": refund["metadata"]}
    refund["metadata"] = merge_metadata(refund["metadata"], call.values.get("metadata"))
    call.store.save(refund, now=call.now)
    emit(call, "refund.updated", refund, previous=previous)
    emit(call, "charge.refund.updated", refund, previous=previous)
    return refund


def retrieve_refund(call: Call) -> Body:
    return call.store.get("refund", call.object_id)


def list_refunds(call: Call) -> Body:
    equal = {name: call.values.get(name) for name in ("charge", "payment_intent")}
    for kind, object_id in equal.items():
        if object_id is not None:
            call.store.get(kind, object_id, param=kind)
    return list_objects(call, "refund", url="/v1/refunds", equal=equal)


def _blank(
    call: Call, charge: Body, *, amount: int, reason: str | None, metadata: dict[str, str], status: str
) -> Body:
    return {
        "id": call.id_for("refund", "re_3"),
        "object": "refund",
        "amount": amount,
        "balance_transaction": None,
        "charge": charge["id"],
        "created": call.now,
        "currency": charge["currency"],
        "customer": charge["customer"],
        "customer_account": None,
        "destination_details": {"card": {"type": "refund"}, "type": "card"},
        "metadata": metadata,
        "payment_intent": charge["payment_intent"],
        "payment_method": charge["payment_method"],
        "reason": reason,
        "receipt_number": None,
        "source_transfer_reversal": None,
        "status": status,
        "transfer_reversal": None,
    }


def _charge_to_refund(call: Call) -> Body:
    if "charge" in call.values:
        return call.store.get("charge", call.values["charge"], param="charge")
    intent = call.store.get("payment_intent", call.values["payment_intent"], param="payment_intent")
    if intent["status"] != "succeeded":
        raise ApiError(
            f"This PaymentIntent ({intent['id']}) does not have a successful charge to refund.",
            param="payment_intent",
        )
    return call.store.get("charge", intent["latest_charge"])


def check_target(values: Body) -> None:
    """One of the two names what to refund; part of reading the parameters."""
    named = [name for name in ("charge", "payment_intent") if name in values]
    if not named:
        raise ApiError(
            "One of the following params should be provided for this request: payment_intent or charge.",
            code="parameter_missing",
            param="payment_intent",
        )
    if len(named) == 2:
        raise ApiError(
            "You may only specify one of these parameters: charge, payment_intent.", param="charge"
        )


def _refuse_if_impossible(call: Call, charge: Body, *, amount: int, left: int) -> None:
    currency = charge["currency"]
    if charge["status"] != "succeeded" or not charge["captured"]:
        raise ApiError(
            f"Charge {charge['id']} has not been captured; there is nothing to refund.", param="charge"
        )
    if left == 0:
        raise ApiError(f"Charge {charge['id']} has already been refunded.", code="charge_already_refunded")
    disputes = call.store.all("dispute", charge=charge["id"])
    if any(not dispute["is_charge_refundable"] for dispute in disputes):
        raise ApiError(
            f"Charge {charge['id']} has been charged back; cannot issue a refund.", code="charge_disputed"
        )
    check_amount(amount, currency)
    if amount < 1:
        raise ApiError("Invalid positive integer", code="parameter_invalid_integer", param="amount")
    if amount > left:
        raise ApiError(
            f"Refund amount ({shown(amount, currency)}) is greater than unrefunded amount on charge "
            f"({shown(left, currency)})",
            param="amount",
        )


def _set_refunded(call: Call, charge: Body, amount: int) -> None:
    charge |= {"amount_refunded": amount, "refunded": amount == charge["amount"]}
    call.store.save(charge, now=call.now)
