"""Stripe's exports as they are met in the world: other columns, zones, currencies and labels."""

from datetime import UTC, datetime

import pytest

from conversations.errors import StoreError
from tests.ledger.statements.conftest import said

pytestmark = pytest.mark.django_db

PAYMENTS = "id,{created},Amount,Amount Refunded,Currency,Captured,Status,PaymentIntent ID\n"
HISTORY = (
    "id,Type,Source,Amount,Fee,Net,Currency,{created},Available On (UTC),Description,"
    "Customer Facing Amount,Customer Facing Currency\n"
)
ITEMISED = (
    "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,"
    "customer_facing_amount,customer_facing_currency,charge_id\n"
)
AT = "2026-07-01 10:00:00"


@pytest.mark.parametrize(
    ("column", "told", "hour"),
    [
        ("Created date (UTC)", "America/New_York", 10),
        ("Created (UTC)", "America/New_York", 10),
        ("Created date (Europe/Paris)", "UTC", 8),
        ("Created (America/New_York)", "UTC", 14),
        ("Created date", "Asia/Tokyo", 1),
    ],
)
@pytest.mark.parametrize("layout", [PAYMENTS, HISTORY])
def test_the_zone_in_a_columns_name_wins_over_the_files(take_in, layout, column, told, hour):
    rows = {
        PAYMENTS: f"ch_1,{AT},19.00,0.00,usd,true,Paid,pi_1\n",
        HISTORY: f"txn_1,charge,ch_1,19.00,0.90,18.10,usd,{AT},,,,\n",
    }

    statement = take_in(layout.format(created=column) + rows[layout], zone=told).statement

    assert said(statement, "occurred_at", "trouble") == [(datetime(2026, 7, 1, hour, tzinfo=UTC), "")]


def test_a_zone_that_nobody_knows_is_told_and_nothing_is_read(take_in):
    text = PAYMENTS.format(created="Created date (PST)") + f"ch_1,{AT},19.00,0.00,usd,true,Paid,pi_1\n"

    with pytest.raises(StoreError, match="line 2: the column “Created date \\(PST\\)” names a time zone"):
        take_in(text)


@pytest.mark.parametrize(
    ("status", "captured", "expected"),
    [
        ("Paid", "true", "done"),
        ("Partial Refund", "TRUE", "done"),
        ("Dispute Lost", "", "done"),
        ("Early fraud warning", "true", "done"),
        ("Failed", "false", "failed"),
        ("canceled", "", "failed"),
        ("Blocked", "", "failed"),
        ("Requires payment method", "", "pending"),
        ("requires_action", "", "pending"),
        ("Uncaptured", "", "pending"),
        ("Something new", "false", "pending"),
    ],
)
def test_a_payments_label_says_whether_money_moved(take_in, status, captured, expected):
    text = PAYMENTS.format(created="Created (UTC)") + f"ch_1,{AT},19.00,0.00,usd,{captured},{status},pi_1\n"

    assert said(take_in(text).statement, "status") == [(expected,)]


def test_a_payment_of_which_nothing_says_whether_it_moved_is_no_guess(take_in):
    rows = f"ch_1,{AT},19.00,0.00,usd,true,Paid,pi_1\nch_2,{AT},19.00,0.00,usd,,Something new,pi_2\n"

    statement = take_in(PAYMENTS.format(created="Created (UTC)") + rows).statement

    [(trouble,)] = [row for row in said(statement, "trouble") if row[0]]
    assert "Something new" in trouble


def test_what_the_customer_saw_counts_only_where_it_is_another_currency(take_in):
    """The facing amount of a row in one currency may be that of the whole charge, or without its sign."""
    rows = [
        "txn_1,{at},usd,100.00,0,100.00,charge,ch_1,100.00,usd,ch_1",
        "txn_2,{at},usd,-40.00,0,-40.00,partial_capture_reversal,re_1,100.00,usd,ch_1",
        "txn_3,{at},usd,-5.00,0,-5.00,refund,re_2,5.00,usd,ch_1",
        "txn_4,{at},usd,-10.80,0,-10.80,refund,re_3,10.00,eur,ch_2",
        "txn_5,{at},usd,-30.00,15.00,-45.00,dispute,dp_1,,,ch_1",
        "txn_6,{at},usd,30.00,-15.00,45.00,dispute_reversal,dp_1,,,ch_1",
        "txn_7,{at},usd,5.00,0,5.00,refund_failure,re_2,,,ch_1",
        "txn_8,{at},jpy,5800.00,0,5800,charge,ch_3,,,ch_3",
        "txn_9,{at},kwd,5.120,0,5.120,charge,ch_4,,,ch_4",
    ]

    statement = take_in(ITEMISED + "\n".join(rows).format(at=AT)).statement

    assert said(statement, "kind", "amount_minor", "currency") == [
        ("charge", 10000, "usd"),
        ("release", -4000, "usd"),
        ("refund", -500, "usd"),
        ("refund", -1000, "eur"),
        ("dispute", -3000, "usd"),
        ("dispute_reversal", 3000, "usd"),
        ("refund_failure", 500, "usd"),
        ("charge", 5800, "jpy"),
        ("charge", 5120, "kwd"),
    ]


def test_refunds_of_older_histories_name_their_charge_and_are_two(take_in):
    rows = [
        f"txn_1,charge,ch_1,19.00,0.90,18.10,usd,{AT},,,19.00,usd",
        f"txn_2,refund,ch_1,-5.00,0,-5.00,usd,{AT},,REFUND FOR CHARGE,-5.00,usd",
        f"txn_3,refund,ch_1,-2.00,0,-2.00,usd,{AT},,REFUND FOR CHARGE,-2.00,usd",
    ]

    statement = take_in(HISTORY.format(created="Created (UTC)") + "\n".join(rows)).statement

    assert said(statement, "kind", "reference", "charge_ref", "amount_minor") == [
        ("charge", "ch_1", "ch_1", 1900),
        ("refund", "txn_2", "ch_1", -500),
        ("refund", "txn_3", "ch_1", -200),
    ]


def test_a_payment_that_failed_after_it_was_credited_is_let_go(take_in):
    history = HISTORY.format(created="Created (UTC)") + (
        f"txn_1,payment,py_1,19.00,0,19.00,usd,{AT},,,,\n"
        f"txn_2,payment_failure_refund,pyr_1,-19.00,0,-19.00,usd,{AT},,,,\n"
    )
    itemised = ITEMISED + f"txn_2,{AT},usd,-19.00,0,-19.00,charge_failure,pyr_1,-19.00,usd,py_1\n"

    assert said(take_in(history).statement, "kind") == [("charge",), ("release",)]
    assert said(take_in(itemised).statement, "kind", "reference", "charge_ref") == [
        ("release", "pyr_1", "py_1")
    ]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_cells_may_be_parted_as_a_spreadsheet_parts_them(take_in, delimiter):
    text = PAYMENTS.format(created="Created (UTC)") + (
        f'"ch_1",{AT},19.00,0.00,usd,true,Paid,pi_1\nch_2,{AT},"1.000",0.00,usd,true,Paid,pi_2\n'
    )

    statement = take_in(
        b"\xef\xbb\xbf" + text.replace(",", delimiter).replace("\n", "\r\n").encode()
    ).statement

    assert said(statement, "number", "reference", "amount_minor") == [(2, "ch_1", 1900), (3, "", None)]
    assert "may part thousands" in statement.lines.get(number=3).trouble
