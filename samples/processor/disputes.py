"""Disputes: opened by the bank, which takes the money at once, and closed for one side.

An inquiry (`warning_…`) takes nothing until it becomes a dispute.
"""

from samples.processor import balance
from samples.processor.call import Call
from samples.processor.errors import ApiError, Body
from samples.processor.events import emit
from samples.processor.lists import list_objects
from samples.processor.parameters import merge_metadata

DUE_AFTER_SECONDS = 9 * 24 * 3600
OPEN = frozenset(("needs_response", "under_review", "warning_needs_response", "warning_under_review"))
REASONS = frozenset(
    (
        "credit_not_processed",
        "duplicate",
        "fraudulent",
        "general",
        "product_not_received",
        "product_unacceptable",
        "subscription_canceled",
        "unrecognized",
    )
)
_EVIDENCE_FIELDS = (
    "access_activity_log billing_address cancellation_policy cancellation_policy_disclosure "
    "cancellation_rebuttal customer_communication customer_email_address customer_name "
    "customer_purchase_ip customer_signature duplicate_charge_documentation "
    "duplicate_charge_explanation duplicate_charge_id product_description receipt refund_policy "
    "refund_policy_disclosure refund_refusal_explanation service_date service_documentation "
    "shipping_address shipping_carrier shipping_date shipping_documentation "
    "shipping_tracking_number uncategorized_file uncategorized_text"
)
EVIDENCE = _EVIDENCE_FIELDS.split()


def open_dispute(
    call: Call,
    charge_id: str,
    *,
    amount: int | None = None,
    reason: str = "fraudulent",
    is_inquiry: bool = False,
) -> Body:
    charge = call.store.get("charge", charge_id, param="charge")
    _refuse_if_impossible(charge, amount=amount, reason=reason)
    dispute = _blank(call, charge, amount=amount or charge["amount_captured"], reason=reason)
    dispute["status"] = "warning_needs_response" if is_inquiry else "needs_response"
    dispute["payment_method_details"]["card"]["case_type"] = "inquiry" if is_inquiry else "chargeback"
    dispute["is_charge_refundable"] = is_inquiry
    charge["disputed"] = True
    call.store.save(charge, now=call.now)
    if not is_inquiry:
        dispute["balance_transactions"] = [balance.enter_dispute(call, dispute, is_reversal=False)]
    call.store.insert(dispute, now=call.now)
    emit(call, "charge.dispute.created", dispute)
    if not is_inquiry:
        emit(call, "charge.dispute.funds_withdrawn", dispute)
    return dispute


def dispute_by_itself(call: Call, charge_id: str) -> None:
    """The scheduled dispute of a test card; nothing to do if one was asked for sooner."""
    if not call.store.get("charge", charge_id)["disputed"]:
        open_dispute(call, charge_id)


def inquire_by_itself(call: Call, charge_id: str) -> None:
    if not call.store.get("charge", charge_id)["disputed"]:
        open_dispute(call, charge_id, reason="general", is_inquiry=True)


def finish_dispute(call: Call, dispute_id: str, *, status: str) -> Body:
    """Close it as won, lost, or (an inquiry) warning_closed."""
    dispute = call.store.get("dispute", dispute_id)
    is_inquiry = dispute["status"].startswith("warning_")
    if dispute["status"] not in OPEN or status not in (
        ("warning_closed",) if is_inquiry else ("won", "lost")
    ):
        raise ApiError(f"A dispute that is {dispute['status']} cannot become {status}.")
    dispute |= {"status": status, "is_charge_refundable": status != "lost"}
    if status == "won":
        dispute["balance_transactions"].append(balance.enter_dispute(call, dispute, is_reversal=True))
    call.store.save(dispute, now=call.now)
    emit(call, "charge.dispute.closed", dispute)
    if status == "won":
        emit(call, "charge.dispute.funds_reinstated", dispute)
    return dispute


def close_dispute(call: Call) -> Body:
    """The account gives in: the API's own way to close, always lost."""
    return finish_dispute(call, call.object_id, status="lost")


def update_dispute(call: Call) -> Body:
    """Evidence and metadata; submitted evidence puts the dispute under review."""
    dispute = call.store.get("dispute", call.object_id)
    if dispute["status"] not in OPEN:
        raise ApiError(f"This dispute is already {dispute['status']}.", code="dispute_not_open")
    dispute["metadata"] = merge_metadata(dispute["metadata"], call.values.get("metadata"))
    details, evidence = dispute["evidence_details"], call.values.get("evidence", {})
    dispute["evidence"] |= evidence
    details["has_evidence"] = details["has_evidence"] or bool(evidence)
    if call.values.get("submit", bool(evidence)):
        details["submission_count"] += 1
        dispute["status"] = dispute["status"].replace("needs_response", "under_review")
    call.store.save(dispute, now=call.now)
    emit(call, "charge.dispute.updated", dispute, previous={})
    return dispute


def retrieve_dispute(call: Call) -> Body:
    return call.store.get("dispute", call.object_id)


def list_disputes(call: Call) -> Body:
    equal = {name: call.values.get(name) for name in ("charge", "payment_intent")}
    return list_objects(call, "dispute", url="/v1/disputes", equal=equal)


def _refuse_if_impossible(charge: Body, *, amount: int | None, reason: str) -> None:
    if not charge["captured"]:
        raise ApiError(f"Charge {charge['id']} has taken nothing that could be disputed.", param="charge")
    if charge["disputed"]:
        raise ApiError(f"Charge {charge['id']} is disputed already.", param="charge")
    if amount is not None and not 0 < amount <= charge["amount_captured"]:
        raise ApiError(f"Between 1 and {charge['amount_captured']} can be disputed.", param="amount")
    if reason not in REASONS:
        raise ApiError(f"Unknown reason. There are: {', '.join(sorted(REASONS))}", param="reason")


def _blank(call: Call, charge: Body, *, amount: int, reason: str) -> Body:
    brand = charge["payment_method_details"]["card"]["brand"]
    return {
        "id": call.id_for("dispute", "du_1"),
        "object": "dispute",
        "amount": amount,
        "balance_transactions": [],
        "charge": charge["id"],
        "created": call.now,
        "currency": charge["currency"],
        "enhanced_eligibility_types": [],
        "evidence": {**dict.fromkeys(EVIDENCE), "enhanced_evidence": {}},
        "evidence_details": {
            "due_by": call.now + DUE_AFTER_SECONDS,
            "enhanced_eligibility": {},
            "has_evidence": False,
            "past_due": False,
            "submission_count": 0,
        },
        "is_charge_refundable": False,
        "livemode": False,
        "metadata": {},
        "payment_intent": charge["payment_intent"],
        "payment_method_details": {
            "card": {
                "brand": brand,
                "case_type": "chargeback",
                "network": brand,
                "network_reason_code": "10.4",
            },
            "type": "card",
        },
        "reason": reason,
        "status": "needs_response",
    }
