"""Stripe's three exports, as the sandbox prints them: the same month says the same in each."""

import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from conversations.errors import StoreError
from ledger.statements.formats import format_of
from tests.ledger.statements.conftest import said
from tests.samples.conftest import pay, processor, running_processor, stripe_api

__all__ = ["pay", "processor", "running_processor", "stripe_api"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def export(processor: Any) -> Callable[..., bytes]:
    def fetch(name: str, query: str = "") -> bytes:
        request = urllib.request.Request(
            f"{processor.base_url}/sandbox/statements/{name}?{query}",
            headers={"Authorization": f"Bearer {processor.api_key}"},
        )
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    return fetch


@pytest.fixture
def month(stripe_api: Any, pay: Any) -> dict[str, Any]:
    """A charge with a partial refund, one in yen, one captured in part."""
    marks = {"counterfoil_effect": "0197a000-0000-7000-8000-000000000001"}
    first = pay(amount=1900, currency="usd", metadata=marks)
    refund = stripe_api.refunds.create({"payment_intent": first.id, "amount": 500})
    yen = pay(amount=5800, currency="jpy")
    part = pay(amount=10000, currency="eur", capture_method="manual")
    stripe_api.payment_intents.capture(part.id, {"amount_to_capture": 6000})
    return {"first": first.latest_charge, "refund": refund.id, "yen": yen.latest_charge, "part": part.id}


def test_the_payments_export_has_a_line_for_each_charge_and_sums_up_refunds(take_in, export, month):
    statement = take_in(export("payments.csv", "header=all&bom=true")).statement

    assert (statement.format, statement.lists_refunds, statement.skipped_count) == (
        "stripe_payments",
        False,
        0,
    )
    by_charge = {
        row[0]: row[1:] for row in said(statement, "reference", "amount_minor", "refunded_minor", "currency")
    }
    assert by_charge[month["first"]] == (1900, 500, "usd")
    assert by_charge[month["yen"]] == (5800, 0, "jpy")
    assert (
        str(statement.lines.get(reference=month["first"]).effect_mark)
        == "0197a000-0000-7000-8000-000000000001"
    )


def test_older_column_names_are_the_same_export(take_in, export, month):
    assert take_in(export("payments.csv", "header=old")).statement.format == "stripe_payments"


def test_the_balance_history_gives_each_movement_its_sign(take_in, export, month):
    statement = take_in(export("balance_history.csv")).statement

    assert (statement.format, statement.lists_refunds) == ("stripe_balance", True)
    rows = set(said(statement, "kind", "reference", "amount_minor", "currency"))
    assert ("charge", month["first"], 1900, "usd") in rows
    assert ("refund", month["refund"], -500, "usd") in rows
    assert ("charge", month["yen"], 5800, "jpy") in rows


def test_the_itemised_report_names_what_a_partial_capture_released(take_in, export, month):
    statement = take_in(export("balance_change_from_activity.itemized.6.csv")).statement

    assert statement.format == "stripe_itemised"
    assert [row for row in said(statement, "kind", "amount_minor") if row[0] == "release"] == [
        ("release", -4000)
    ]


@pytest.mark.parametrize("locale", ["us", "de"])
def test_dates_as_a_dashboards_locale_prints_them_are_refused(take_in, export, month, locale):
    with pytest.raises(StoreError) as refused:
        take_in(export("payments.csv", f"dates={locale}"))

    assert refused.value.rule == "nothing-read"


def test_money_settled_in_another_currency_is_read_as_the_customer_paid_it(take_in):
    text = (
        "id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description,"
        "Customer Facing Amount,Customer Facing Currency\n"
        "txn_1,charge,ch_1,20.52,0.90,19.62,usd,2026-03-04 10:00:00,,,19.00,eur\n"
        "txn_2,payout,po_1,-19.62,0.00,-19.62,usd,2026-03-05 10:00:00,,,,\n"
    )

    statement = take_in(text).statement

    assert said(statement, "kind", "amount_minor", "currency", "fee_minor") == [
        ("charge", 1900, "eur", 90),
        ("other", -1962, "usd", 0),
    ]


def test_a_report_in_another_zone_says_its_own_times(take_in):
    text = (
        "balance_transaction_id,created,currency,gross,fee,net,reporting_category,source_id\n"
        "txn_1,2026-07-01 00:30:00,usd,19.00,0.90,18.10,charge,ch_1\n"
    )

    statement = take_in(text, zone="America/New_York").statement

    assert said(statement, "occurred_at") == [(datetime(2026, 7, 1, 4, 30, tzinfo=UTC),)]


def test_a_payout_report_is_of_the_same_family():
    header = (
        "automatic_payout_id,automatic_payout_effective_at,balance_transaction_id,created_utc,currency,gross"
    )
    found = format_of([*header.split(","), "reporting_category"])

    assert found is not None
    assert found.name == "stripe_itemised"
