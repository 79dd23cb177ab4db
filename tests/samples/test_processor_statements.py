import csv
import io
from datetime import UTC, datetime

import pytest

from samples.processor.process import LeverRefusedError

DAY = 24 * 3600
ACTIVITY = "balance_change_from_activity.itemized.6.csv"


@pytest.fixture
def export(processor):
    def read(name, **query):
        text = processor.statement(name, **query).decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text, newline="")))

    return read


def test_the_payments_export_has_the_default_columns_and_one_row_per_charge(
    processor, stripe_api, pay, export
):
    customer = stripe_api.customers.create({"email": "rosa@example.com"})
    intent = pay(customer=customer.id, amount=3000, description="two tickets")
    for amount in (1000, 500):
        stripe_api.refunds.create({"payment_intent": intent.id, "amount": amount})

    (row,) = export("payments.csv")

    assert len(row) == 23
    assert list(row)[:6] == ["id", "Created date (UTC)", "Amount", "Amount Refunded", "Currency", "Captured"]
    assert (row["id"], row["Amount"], row["Amount Refunded"]) == (intent.latest_charge, "30.00", "15.00")
    assert (row["Status"], row["Fee"], row["Customer Email"]) == (
        "Partial Refund",
        "1.17",
        "rosa@example.com",
    )


def test_amounts_are_major_units_in_each_currency(pay, export):
    for currency, amount in (("usd", 1999), ("jpy", 5800), ("kwd", 5120), ("isk", 500)):
        pay(currency=currency, amount=amount)

    rows = export("payments.csv")

    assert [(row["Currency"], row["Amount"]) for row in rows] == [
        ("usd", "19.99"),
        ("jpy", "5800"),
        ("kwd", "5.120"),
        ("isk", "5.00"),
    ]


def test_the_status_is_a_label(processor, stripe_api, pay, export):
    stripe_api.refunds.create({"payment_intent": pay().id})
    pay(capture_method="manual")
    processor.open_dispute(pay().latest_charge)
    pay()

    assert [row["Status"] for row in export("payments.csv")] == ["Refunded", "Uncaptured", "Disputed", "Paid"]


def test_the_older_header_names_its_dates_otherwise(pay, export):
    pay()

    (row,) = export("payments.csv", header="old")

    assert "Created (UTC)" in row
    assert "Created date (UTC)" not in row
    assert len(row) == 23


def test_all_columns_add_the_intent_the_dispute_and_the_metadata(processor, pay, export):
    intent = pay(metadata={"effect": "e-1"})
    processor.open_dispute(intent.latest_charge, amount=700)

    (row,) = export("payments.csv", header="all")

    assert (row["PaymentIntent ID"], row["effect (metadata)"]) == (intent.id, "e-1")
    assert (row["Disputed Amount"], row["Card Last4"], row["Mode"]) == ("7.00", "4242", "Test")


def test_an_export_may_have_a_byte_order_mark_and_local_dates(processor, pay, export):
    pay()

    text = processor.statement("payments.csv", bom="true", dates="us")

    assert text.startswith(b"\xef\xbb\xbfid,")
    (row,) = export("payments.csv", dates="us")
    assert row["Created date (UTC)"].endswith(("AM", "PM"))


def test_the_balance_history_has_one_row_per_movement(stripe_api, pay, export):
    intent = pay(metadata={"effect": "e-1"})
    refund = stripe_api.refunds.create({"payment_intent": intent.id, "amount": 500})

    rows = export("balance_history.csv")

    assert [(row["Type"], row["Source"], row["Amount"], row["Fee"], row["Net"]) for row in rows] == [
        ("charge", intent.latest_charge, "20.00", "0.88", "19.12"),
        ("refund", refund.id, "-5.00", "0.00", "-5.00"),
    ]
    assert [row["effect (metadata)"] for row in rows] == ["e-1", "e-1"]


def test_the_itemised_report_ties_each_movement_to_its_charge_and_refund(processor, stripe_api, pay, export):
    processor.pull("settlement", {"currency": "usd", "rates": {"eur": "1.08"}})
    intent = pay(currency="eur", amount=1000, metadata={"effect": "e-1"})
    refund = stripe_api.refunds.create(
        {"payment_intent": intent.id, "amount": 500, "metadata": {"request_id": "r-1"}}
    )
    dispute = processor.open_dispute(pay().latest_charge)

    charged, refunded, _, disputed = export(ACTIVITY)

    assert (charged["gross"], charged["currency"]) == ("10.80", "usd")
    assert (charged["customer_facing_amount"], charged["customer_facing_currency"]) == ("10.00", "eur")
    assert (refunded["source_id"], refunded["charge_id"]) == (refund.id, intent.latest_charge)
    assert (refunded["gross"], refunded["customer_facing_amount"]) == ("-5.40", "-5.00")
    assert refunded["payment_intent_id"] == intent.id
    assert (disputed["reporting_category"], disputed["dispute_id"]) == ("dispute", dispute["id"])
    assert (disputed["gross"], disputed["fee"], disputed["net"]) == ("-20.00", "15.00", "-35.00")


def test_the_itemised_report_gives_the_columns_asked_for(stripe_api, pay, export):
    intent = pay(metadata={"effect": "e-1"})
    stripe_api.refunds.create({"payment_intent": intent.id, "metadata": {"request_id": "r-1"}})

    rows = export(ACTIVITY, columns="source_id,payment_metadata[effect],refund_metadata[request_id]")

    assert [list(row.values())[1:] for row in rows] == [["e-1", ""], ["e-1", "r-1"]]


def test_a_window_takes_what_began_in_it(processor, pay, export):
    pay()
    later = processor.turn_clock(seconds=DAY)
    pay(amount=700)

    assert [row["Amount"] for row in export("payments.csv", since=_iso(later))] == ["7.00"]
    assert [row["Amount"] for row in export("payments.csv", until=_iso(later))] == ["20.00"]


@pytest.mark.parametrize(
    ("name", "query"),
    [("payouts.csv", {}), ("payments.csv", {"header": "new"}), (ACTIVITY, {"columns": "colour"})],
)
def test_an_unknown_statement_header_or_column_is_refused(processor, pay, name, query):
    pay()

    with pytest.raises(LeverRefusedError):
        processor.statement(name, **query)


def _iso(moment):
    return datetime.fromtimestamp(moment, UTC).isoformat()
