"""Exports of the balance: the dashboard's history and the report of itemised changes."""

from collections.abc import Iterator, Mapping

from samples.processor.call import Call
from samples.processor.errors import ApiError, Body
from samples.processor.money import major
from samples.processor.statement_cells import moment, optional

_HISTORY_HEADER = (
    "id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description,"
    "Customer Facing Amount,Customer Facing Currency,Transfer,Transfer Date (UTC),Transfer Group"
)
HISTORY = _HISTORY_HEADER.split(",")
_ACTIVITY_HEADER = (
    "balance_transaction_id,created_utc,created,available_on_utc,available_on,currency,gross,fee,net,"
    "reporting_category,source_id,description,customer_facing_amount,customer_facing_currency,"
    "automatic_payout_id,automatic_payout_effective_at_utc,automatic_payout_effective_at,customer_id,"
    "customer_email,customer_name,customer_description,charge_id,payment_intent_id,"
    "charge_created_utc,invoice_id,payment_method_type,card_brand,card_funding,card_country,"
    "refund_id,dispute_id,dispute_reason"
)
ACTIVITY = _ACTIVITY_HEADER.split(",")


def history_rows(
    call: Call, movements: list[Body], query: Mapping[str, str]
) -> tuple[list[str], Iterator[dict[str, str]]]:
    charges = {row["id"]: _charge_of(call, row) for row in movements}
    keys = sorted({key for charge in charges.values() for key in charge["metadata"]})
    return [*HISTORY, *(f"{key} (metadata)" for key in keys)], (
        _history_row(row, charges[row["id"]], call, query) for row in movements
    )


def activity_rows(
    call: Call, movements: list[Body], query: Mapping[str, str]
) -> tuple[list[str], Iterator[dict[str, str]]]:
    """`columns` chooses and orders; `payment_metadata[k]` and `refund_metadata[k]` are columns too."""
    columns = query["columns"].split(",") if "columns" in query else ACTIVITY
    for name in columns:
        if name not in ACTIVITY and not name.startswith(("payment_metadata[", "refund_metadata[")):
            raise ApiError(f"Unknown column: {name}", param="columns")
    rows = (_activity_row(call, row, query) for row in movements)
    return columns, ({name: row.get(name, "") for name in columns} for row in rows)


def _history_row(row: Body, charge: Body, call: Call, query: Mapping[str, str]) -> dict[str, str]:
    currency = row["currency"]
    source = _source_of(call, row)
    return {
        "id": row["id"],
        "Type": row["type"],
        "Source": row["source"],
        "Amount": major(row["amount"], currency),
        "Fee": major(row["fee"], currency),
        "Net": major(row["net"], currency),
        "Currency": currency,
        "Created (UTC)": moment(row["created"], query),
        "Available On (UTC)": moment(row["available_on"], query),
        "Description": optional(row["description"]),
        "Customer Facing Amount": major(_facing_amount(row, source), source["currency"]),
        "Customer Facing Currency": source["currency"],
        "Transfer Group": optional(charge["transfer_group"]),
        **{f"{key} (metadata)": value for key, value in charge["metadata"].items()},
    }


def _activity_row(call: Call, row: Body, query: Mapping[str, str]) -> dict[str, str]:
    currency, charge, source = row["currency"], _charge_of(call, row), _source_of(call, row)
    card = charge["payment_method_details"]["card"]
    created, available = moment(row["created"], query), moment(row["available_on"], query)
    return {
        "balance_transaction_id": row["id"],
        "created_utc": created,
        "created": created,
        "available_on_utc": available,
        "available_on": available,
        "currency": currency,
        "gross": major(row["amount"], currency),
        "fee": major(row["fee"], currency),
        "net": major(row["net"], currency),
        "reporting_category": row["reporting_category"],
        "source_id": row["source"],
        "description": optional(row["description"]),
        "customer_facing_amount": major(_facing_amount(row, source), source["currency"]),
        "customer_facing_currency": source["currency"],
        **_customer_cells(call, charge),
        "charge_id": charge["id"],
        "payment_intent_id": charge["payment_intent"],
        "charge_created_utc": moment(charge["created"], query),
        "payment_method_type": "card",
        "card_brand": card["brand"],
        "card_funding": card["funding"],
        "card_country": card["country"],
        "refund_id": source["id"] if source["object"] == "refund" else "",
        "dispute_id": source["id"] if source["object"] == "dispute" else "",
        "dispute_reason": source["reason"] if source["object"] == "dispute" else "",
        **{f"payment_metadata[{key}]": value for key, value in charge["metadata"].items()},
        **_refund_metadata(source),
    }


def _customer_cells(call: Call, charge: Body) -> dict[str, str]:
    customer = call.store.find("customer", charge["customer"]) if charge["customer"] else None
    if customer is None:
        return {}
    return {
        "customer_id": customer["id"],
        "customer_email": optional(customer["email"]),
        "customer_name": optional(customer["name"]),
        "customer_description": optional(customer["description"]),
    }


def _refund_metadata(source: Body) -> dict[str, str]:
    if source["object"] != "refund":
        return {}
    return {f"refund_metadata[{key}]": value for key, value in source["metadata"].items()}


def _source_of(call: Call, row: Body) -> Body:
    source = call.store.any_kind(row["source"])
    if source is None:
        raise ApiError(f"The source of {row['id']} is gone.", status=500)
    return source


def _charge_of(call: Call, row: Body) -> Body:
    source = _source_of(call, row)
    return source if source["object"] == "charge" else call.store.get("charge", source["charge"])


def _facing_amount(row: Body, source: Body) -> int:
    """The movement in the currency the customer sees, with the sign it has on the balance."""
    amount: int = source["amount"]
    return -amount if row["amount"] < 0 else amount
