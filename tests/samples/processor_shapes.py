"""The fields of each kind of object at API version 2026-10-28.endive, with the types they take.

Written by hand from Stripe's own samples and from recorded objects; what the sandbox leaves out
(optional parts that only other payment methods fill) is not listed.
"""

from typing import Any

type Shape = dict[str, Any]

NONE = type(None)
TEXT, WHOLE, FLAG = str, int, bool
MAYBE_TEXT, MAYBE_WHOLE, MAYBE_OBJECT = (str, NONE), (int, NONE), (dict, NONE)

ADDRESS: Shape = dict.fromkeys(("city", "country", "line1", "line2", "postal_code", "state"), MAYBE_TEXT)

CHARGE: Shape = {
    "amount": WHOLE,
    "amount_captured": WHOLE,
    "amount_refunded": WHOLE,
    "application": MAYBE_TEXT,
    "application_fee": MAYBE_TEXT,
    "application_fee_amount": MAYBE_WHOLE,
    "balance_transaction": MAYBE_TEXT,
    "billing_details": {
        "address": ADDRESS,
        "email": MAYBE_TEXT,
        "name": MAYBE_TEXT,
        "phone": MAYBE_TEXT,
        "tax_id": MAYBE_TEXT,
    },
    "calculated_statement_descriptor": MAYBE_TEXT,
    "captured": FLAG,
    "created": WHOLE,
    "currency": TEXT,
    "customer": MAYBE_TEXT,
    "description": MAYBE_TEXT,
    "disputed": FLAG,
    "failure_balance_transaction": MAYBE_TEXT,
    "failure_code": MAYBE_TEXT,
    "failure_message": MAYBE_TEXT,
    "fraud_details": dict,
    "id": TEXT,
    "livemode": FLAG,
    "metadata": dict,
    "object": TEXT,
    "on_behalf_of": MAYBE_TEXT,
    "outcome": {
        "advice_code": MAYBE_TEXT,
        "network_advice_code": MAYBE_TEXT,
        "network_decline_code": MAYBE_TEXT,
        "network_status": MAYBE_TEXT,
        "reason": MAYBE_TEXT,
        "risk_level": TEXT,
        "seller_message": MAYBE_TEXT,
        "type": TEXT,
    },
    "paid": FLAG,
    "payment_intent": MAYBE_TEXT,
    "payment_method": MAYBE_TEXT,
    "payment_method_details": {
        "card": {
            "amount_authorized": MAYBE_WHOLE,
            "authorization_code": MAYBE_TEXT,
            "brand": TEXT,
            "checks": dict,
            "country": TEXT,
            "exp_month": WHOLE,
            "exp_year": WHOLE,
            "extended_authorization": dict,
            "fingerprint": TEXT,
            "funding": TEXT,
            "incremental_authorization": dict,
            "installments": MAYBE_OBJECT,
            "last4": TEXT,
            "mandate": MAYBE_TEXT,
            "multicapture": dict,
            "network": TEXT,
            "network_token": dict,
            "network_transaction_id": MAYBE_TEXT,
            "overcapture": dict,
            "regulated_status": MAYBE_TEXT,
            "three_d_secure": MAYBE_OBJECT,
            "transaction_link_id": MAYBE_TEXT,
            "wallet": MAYBE_OBJECT,
        },
        "type": TEXT,
    },
    "radar_options": dict,
    "receipt_email": MAYBE_TEXT,
    "receipt_number": MAYBE_TEXT,
    "receipt_url": MAYBE_TEXT,
    "refunded": FLAG,
    "review": MAYBE_TEXT,
    "shipping": MAYBE_OBJECT,
    "source": MAYBE_OBJECT,
    "source_transfer": MAYBE_TEXT,
    "statement_descriptor": MAYBE_TEXT,
    "statement_descriptor_suffix": MAYBE_TEXT,
    "status": TEXT,
    "transfer_data": MAYBE_OBJECT,
    "transfer_group": MAYBE_TEXT,
}

PAYMENT_INTENT: Shape = {
    "amount": WHOLE,
    "amount_capturable": WHOLE,
    "amount_details": {"tip": dict},
    "amount_received": WHOLE,
    "application": MAYBE_TEXT,
    "application_fee_amount": MAYBE_WHOLE,
    "automatic_payment_methods": MAYBE_OBJECT,
    "canceled_at": MAYBE_WHOLE,
    "cancellation_reason": MAYBE_TEXT,
    "capture_method": TEXT,
    "client_secret": TEXT,
    "confirmation_method": TEXT,
    "created": WHOLE,
    "currency": TEXT,
    "customer": MAYBE_TEXT,
    "customer_account": MAYBE_TEXT,
    "description": MAYBE_TEXT,
    "excluded_payment_method_types": (list, NONE),
    "id": TEXT,
    "last_payment_error": MAYBE_OBJECT,
    "latest_charge": MAYBE_TEXT,
    "livemode": FLAG,
    "metadata": dict,
    "next_action": MAYBE_OBJECT,
    "object": TEXT,
    "on_behalf_of": MAYBE_TEXT,
    "payment_method": MAYBE_TEXT,
    "payment_method_configuration_details": MAYBE_OBJECT,
    "payment_method_options": {
        "card": {
            "installments": MAYBE_OBJECT,
            "mandate_options": MAYBE_OBJECT,
            "network": MAYBE_TEXT,
            "request_three_d_secure": TEXT,
        }
    },
    "payment_method_types": list,
    "processing": MAYBE_OBJECT,
    "receipt_email": MAYBE_TEXT,
    "review": MAYBE_TEXT,
    "setup_future_usage": MAYBE_TEXT,
    "shipping": MAYBE_OBJECT,
    "source": MAYBE_TEXT,
    "statement_descriptor": MAYBE_TEXT,
    "statement_descriptor_suffix": MAYBE_TEXT,
    "status": TEXT,
    "transfer_data": MAYBE_OBJECT,
    "transfer_group": MAYBE_TEXT,
}

REFUND: Shape = {
    "amount": WHOLE,
    "balance_transaction": MAYBE_TEXT,
    "charge": TEXT,
    "created": WHOLE,
    "currency": TEXT,
    "customer": MAYBE_TEXT,
    "customer_account": MAYBE_TEXT,
    "destination_details": {"card": {"type": TEXT}, "type": TEXT},
    "id": TEXT,
    "metadata": dict,
    "object": TEXT,
    "payment_intent": MAYBE_TEXT,
    "payment_method": MAYBE_TEXT,
    "reason": MAYBE_TEXT,
    "receipt_number": MAYBE_TEXT,
    "source_transfer_reversal": MAYBE_TEXT,
    "status": TEXT,
    "transfer_reversal": MAYBE_TEXT,
}
FAILED_REFUND: Shape = {**REFUND, "failure_balance_transaction": TEXT, "failure_reason": TEXT}

FEE_DETAIL: Shape = {
    "amount": WHOLE,
    "application": MAYBE_TEXT,
    "currency": TEXT,
    "description": MAYBE_TEXT,
    "type": TEXT,
}
BALANCE_TRANSACTION: Shape = {
    "amount": WHOLE,
    "available_on": WHOLE,
    "balance_type": TEXT,
    "created": WHOLE,
    "currency": TEXT,
    "description": MAYBE_TEXT,
    "exchange_rate": (float, NONE),
    "fee": WHOLE,
    "fee_details": [FEE_DETAIL],
    "id": TEXT,
    "net": WHOLE,
    "object": TEXT,
    "reporting_category": TEXT,
    "source": TEXT,
    "status": TEXT,
    "type": TEXT,
}

_EVIDENCE = (
    "access_activity_log billing_address cancellation_policy cancellation_policy_disclosure "
    "cancellation_rebuttal customer_communication customer_email_address customer_name "
    "customer_purchase_ip customer_signature duplicate_charge_documentation duplicate_charge_explanation "
    "duplicate_charge_id product_description receipt refund_policy refund_policy_disclosure "
    "refund_refusal_explanation service_date service_documentation shipping_address shipping_carrier "
    "shipping_date shipping_documentation shipping_tracking_number uncategorized_file uncategorized_text"
)
DISPUTE: Shape = {
    "amount": WHOLE,
    "balance_transactions": [BALANCE_TRANSACTION],
    "charge": TEXT,
    "created": WHOLE,
    "currency": TEXT,
    "enhanced_eligibility_types": list,
    "evidence": {**dict.fromkeys(_EVIDENCE.split(), MAYBE_TEXT), "enhanced_evidence": dict},
    "evidence_details": {
        "due_by": MAYBE_WHOLE,
        "enhanced_eligibility": dict,
        "has_evidence": FLAG,
        "past_due": FLAG,
        "submission_count": WHOLE,
    },
    "id": TEXT,
    "is_charge_refundable": FLAG,
    "livemode": FLAG,
    "metadata": dict,
    "object": TEXT,
    "payment_intent": MAYBE_TEXT,
    "payment_method_details": {
        "card": {
            "brand": TEXT,
            "case_type": TEXT,
            "network": MAYBE_TEXT,
            "network_reason_code": MAYBE_TEXT,
        },
        "type": TEXT,
    },
    "reason": TEXT,
    "status": TEXT,
}

CUSTOMER: Shape = {
    "address": MAYBE_OBJECT,
    "balance": WHOLE,
    "created": WHOLE,
    "currency": MAYBE_TEXT,
    "default_source": MAYBE_TEXT,
    "delinquent": FLAG,
    "description": MAYBE_TEXT,
    "discount": MAYBE_OBJECT,
    "email": MAYBE_TEXT,
    "id": TEXT,
    "invoice_prefix": TEXT,
    "invoice_settings": {
        "custom_fields": (list, NONE),
        "default_payment_method": MAYBE_TEXT,
        "footer": MAYBE_TEXT,
        "rendering_options": MAYBE_OBJECT,
    },
    "livemode": FLAG,
    "metadata": dict,
    "name": MAYBE_TEXT,
    "next_invoice_sequence": WHOLE,
    "object": TEXT,
    "phone": MAYBE_TEXT,
    "preferred_locales": list,
    "shipping": MAYBE_OBJECT,
    "tax_exempt": TEXT,
    "test_clock": MAYBE_TEXT,
}

WEBHOOK_ENDPOINT: Shape = {
    "api_version": MAYBE_TEXT,
    "application": MAYBE_TEXT,
    "created": WHOLE,
    "description": MAYBE_TEXT,
    "enabled_events": list,
    "id": TEXT,
    "livemode": FLAG,
    "metadata": dict,
    "object": TEXT,
    "status": TEXT,
    "url": TEXT,
}

EVENT: Shape = {
    "api_version": TEXT,
    "created": WHOLE,
    "data": {"object": dict},
    "id": TEXT,
    "livemode": FLAG,
    "object": TEXT,
    "pending_webhooks": WHOLE,
    "request": {"id": MAYBE_TEXT, "idempotency_key": MAYBE_TEXT},
    "type": TEXT,
}


def differences(value: Any, shape: Any, at: str = "") -> list[str]:
    """Where the value has other fields or types than the shape, each named by its path."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{at}: no object"]
        wrong = [f"{at}.{name}: missing" for name in shape if name not in value]
        wrong += [f"{at}.{name}: unknown" for name in value if name not in shape]
        return wrong + [
            line
            for name in shape
            if name in value
            for line in differences(value[name], shape[name], f"{at}.{name}")
        ]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{at}: no list"]
        return [
            line for index, item in enumerate(value) for line in differences(item, shape[0], f"{at}[{index}]")
        ]
    allowed = shape if isinstance(shape, tuple) else (shape,)
    # bool is an int in Python, not in JSON.
    return [] if type(value) in allowed else [f"{at}: {type(value).__name__}"]
