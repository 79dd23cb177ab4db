"""The dashboard's payments export: one row per charge, its refunds summed up and unnamed."""

from collections.abc import Iterator, Mapping

from samples.processor.call import Call
from samples.processor.errors import ApiError, Body
from samples.processor.money import major
from samples.processor.statement_cells import moment, optional

_DEFAULT_HEADER = (
    "id,Created date (UTC),Amount,Amount Refunded,Currency,Captured,Converted Amount,"
    "Converted Amount Refunded,Converted Currency,Decline Reason,Description,Fee,Refunded date (UTC),"
    "Statement Descriptor,Status,Seller Message,Taxes On Fee,Card ID,Customer ID,"
    "Customer Description,Customer Email,Invoice ID,Transfer"
)
DEFAULT = _DEFAULT_HEADER.split(",")
RENAMED = {"Created date (UTC)": "Created (UTC)", "Refunded date (UTC)": "Refunded (UTC)"}
_MORE_HEADER = (
    "Mode,Card Last4,Card Brand,Card Funding,Card Exp Month,Card Exp Year,Card Fingerprint,"
    "Card Issue Country,Disputed Amount,Dispute Date (UTC),Dispute Reason,Dispute Status,"
    "PaymentIntent ID"
)
MORE = _MORE_HEADER.split(",")


def rows(
    call: Call, charges: list[Body], query: Mapping[str, str]
) -> tuple[list[str], Iterator[dict[str, str]]]:
    """`header`: `default`, `old` (the older names), or `all` (cards, disputes and metadata too)."""
    header = query.get("header", "default")
    metadata = sorted({f"{key} (metadata)" for charge in charges for key in charge["metadata"]})
    columns = {
        "default": DEFAULT,
        "old": [RENAMED.get(name, name) for name in DEFAULT],
        "all": [*DEFAULT, *MORE, *metadata],
    }.get(header)
    if columns is None:
        raise ApiError("Unknown header. There are: default, old, all", param="header")

    def cells() -> Iterator[dict[str, str]]:
        for charge in charges:
            row = _row(call, charge, query)
            if header == "old":
                row = {RENAMED.get(name, name): cell for name, cell in row.items()}
            yield {name: row.get(name, "") for name in columns}

    return columns, cells()


def _row(call: Call, charge: Body, query: Mapping[str, str]) -> dict[str, str]:
    currency = charge["currency"]
    refunds = [
        refund for refund in call.store.all("refund", charge=charge["id"]) if refund["status"] != "failed"
    ]
    customer = call.store.find("customer", charge["customer"]) if charge["customer"] else None
    return {
        "id": charge["id"],
        "Created date (UTC)": moment(charge["created"], query),
        "Amount": major(charge["amount"], currency),
        "Amount Refunded": major(charge["amount_refunded"], currency),
        "Currency": currency,
        "Captured": str(charge["captured"]).lower(),
        **_converted(call, charge, refunds),
        "Decline Reason": optional(charge["outcome"]["reason"]),
        "Description": optional(charge["description"]),
        "Refunded date (UTC)": moment(refunds[-1]["created"] if refunds else None, query),
        "Statement Descriptor": optional(charge["statement_descriptor"]),
        "Status": _label(call, charge),
        "Seller Message": charge["outcome"]["seller_message"],
        "Card ID": charge["payment_method"],
        "Customer ID": optional(charge["customer"]),
        "Customer Description": optional(customer and customer["description"]),
        "Customer Email": optional(customer and customer["email"]),
        **_more(call, charge, query),
        **{f"{key} (metadata)": value for key, value in charge["metadata"].items()},
    }


def _converted(call: Call, charge: Body, refunds: list[Body]) -> dict[str, str]:
    """In the currency the account settles in; empty for what never reached the balance."""
    if charge["balance_transaction"] is None:
        return {}
    row = call.store.get("balance_transaction", charge["balance_transaction"])
    ids = [refund["balance_transaction"] for refund in refunds]
    refunded = -sum(call.store.get("balance_transaction", row_id)["amount"] for row_id in ids)
    currency = row["currency"]
    return {
        "Converted Amount": major(row["amount"], currency),
        "Converted Amount Refunded": major(refunded, currency),
        "Converted Currency": currency,
        "Fee": major(row["fee"], currency),
        "Taxes On Fee": major(0, currency),
    }


def _label(call: Call, charge: Body) -> str:
    if charge["status"] == "failed":
        return "Failed"
    if charge["disputed"]:
        dispute = call.store.all("dispute", charge=charge["id"])[-1]
        labels = {"won": "Dispute Won", "lost": "Dispute Lost", "warning_closed": "Paid"}
        return labels.get(dispute["status"], "Disputed")
    if not charge["captured"]:
        return "Canceled" if charge["refunded"] else "Uncaptured"
    if charge["refunded"]:
        return "Refunded"
    return "Partial Refund" if charge["amount_refunded"] else "Paid"


def _more(call: Call, charge: Body, query: Mapping[str, str]) -> dict[str, str]:
    card = charge["payment_method_details"]["card"]
    found = call.store.all("dispute", charge=charge["id"])
    dispute = found[-1] if found else None
    return {
        "Mode": "Test",
        "Card Last4": card["last4"],
        "Card Brand": card["brand"].title(),
        "Card Funding": card["funding"],
        "Card Exp Month": str(card["exp_month"]),
        "Card Exp Year": str(card["exp_year"]),
        "Card Fingerprint": card["fingerprint"],
        "Card Issue Country": card["country"],
        "Disputed Amount": major(dispute["amount"], dispute["currency"]) if dispute else "",
        "Dispute Date (UTC)": moment(dispute["created"] if dispute else None, query),
        "Dispute Reason": dispute["reason"] if dispute else "",
        "Dispute Status": dispute["status"] if dispute else "",
        "PaymentIntent ID": charge["payment_intent"],
    }
