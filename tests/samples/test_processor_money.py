from decimal import Decimal

import pytest
import stripe

from samples.processor.money import convert, major, processing_fee


@pytest.mark.parametrize(
    ("currency", "amount", "shown"),
    [
        ("usd", 1999, "19.99"),
        ("usd", 5, "0.05"),
        ("usd", -500, "-5.00"),
        ("jpy", 5800, "5800"),
        ("kwd", 5120, "5.120"),
        ("isk", 500, "5.00"),
        ("ugx", 500, "5.00"),
        ("huf", 10000, "100.00"),
    ],
)
def test_exports_print_as_many_decimals_as_the_currency_has(currency, amount, shown):
    assert major(amount, currency) == shown


@pytest.mark.parametrize(
    ("amount", "source", "target", "rate", "expected"),
    [
        (1000, "eur", "usd", "1.08", 1080),
        (5800, "jpy", "usd", "0.0064", 3712),
        (5120, "kwd", "usd", "3.25", 1664),
        (1, "eur", "usd", "0.5", 0),
        (3, "eur", "usd", "0.5", 2),
    ],
)
def test_converting_minds_both_exponents_and_rounds_half_to_even(amount, source, target, rate, expected):
    assert convert(amount, source, target, Decimal(rate)) == expected


@pytest.mark.parametrize(
    ("currency", "amount", "fee"), [("usd", 2000, 88), ("jpy", 5800, 168), ("kwd", 5120, 448)]
)
def test_the_fee_is_a_whole_number_of_the_smallest_unit(currency, amount, fee):
    assert processing_fee(amount, currency) == fee


@pytest.mark.parametrize(
    ("currency", "good", "bad"),
    [("kwd", 5120, 5124), ("isk", 500, 550), ("ugx", 100, 101)],
)
def test_amounts_that_a_currency_cannot_express_are_refused(stripe_api, pay, currency, good, bad):
    with pytest.raises(stripe.InvalidRequestError) as refused:
        pay(currency=currency, amount=bad)
    assert (refused.value.code, refused.value.param) == ("invalid_charge_amount", "amount")

    assert pay(currency=currency, amount=good).status == "succeeded"


def test_the_rule_of_the_last_digit_holds_for_refunds_too(stripe_api, pay):
    intent = pay(currency="kwd", amount=5120)

    with pytest.raises(stripe.InvalidRequestError):
        stripe_api.refunds.create({"payment_intent": intent.id, "amount": 1001})

    assert stripe_api.refunds.create({"payment_intent": intent.id, "amount": 1000}).amount == 1000


def test_yen_keep_their_whole_units_through_a_refund(stripe_api, pay):
    intent = pay(currency="jpy", amount=5800)

    stripe_api.refunds.create({"payment_intent": intent.id, "amount": 580})

    charge = stripe_api.charges.retrieve(intent.latest_charge)
    assert charge.amount - charge.amount_refunded == 5220
