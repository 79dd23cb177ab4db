import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.currency import AmountError, exponent, major_text, minor_units, step, typed_minor_units

CURRENCIES = ("EUR", "USD", "JPY", "KWD", "ISK", "UGX", "KRW", "BHD", "TND", "HUF", "MGA", "CLP")


@pytest.mark.parametrize(
    ("currency", "decimals"),
    [
        ("EUR", 2),
        ("USD", 2),
        ("HUF", 2),
        ("TWD", 2),
        ("JPY", 0),
        ("jpy", 0),
        ("KRW", 0),
        ("CLP", 0),
        ("MGA", 0),
        ("XPF", 0),
        ("KWD", 3),
        ("kwd", 3),
        ("BHD", 3),
        ("TND", 3),
        ("ISK", 2),
        ("UGX", 2),
    ],
)
def test_exponents_are_those_of_the_processors(currency, decimals):
    assert exponent(currency) == decimals


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (131240, "EUR", "1312.40"),
        (-7699, "USD", "-76.99"),
        (5, "USD", "0.05"),
        (-5, "USD", "-0.05"),
        (0, "EUR", "0.00"),
        (14200, "JPY", "14200"),
        (580, "jpy", "580"),
        (0, "JPY", "0"),
        (31500, "KWD", "31.500"),
        (5, "KWD", "0.005"),
        (500, "ISK", "5"),
        (-500, "UGX", "-5"),
        (550, "ISK", "5.50"),
        (10**15 + 1, "EUR", "10000000000000.01"),
    ],
)
def test_minor_units_are_written_in_the_decimals_of_their_currency(minor, currency, text):
    assert major_text(minor, currency) == text


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("1312.40", "EUR", 131240),
        ("1312.4", "EUR", 131240),
        ("1312", "EUR", 131200),
        ("-76.99", "USD", -7699),
        ("−76.99", "USD", -7699),
        ("+0.05", "USD", 5),
        (" 580 ", "JPY", 580),
        ("580.00", "JPY", 580),
        ("31.5", "KWD", 31500),
        ("5", "ISK", 500),
        ("5.00", "ISK", 500),
        ("0.001", "BHD", 1),
    ],
)
def test_an_amount_in_major_units_is_read_exactly(text, currency, minor):
    assert minor_units(text, currency) == minor


@pytest.mark.parametrize(
    "text", ["", "abc", "1,312.40", "1.312,40", "1e3", "NaN", "٣", "12.", ".5", "--5", "1" * 19]
)
def test_text_that_is_no_plain_amount_is_refused(text):
    with pytest.raises(AmountError, match="is no amount in EUR"):
        minor_units(text, "EUR")


@pytest.mark.parametrize(("text", "currency"), [("580.5", "JPY"), ("1.005", "EUR"), ("1.0005", "KWD")])
def test_an_amount_with_more_decimals_than_its_currency_is_refused_not_rounded(text, currency):
    with pytest.raises(AmountError, match=f"has more decimals than {currency}"):
        minor_units(text, currency)


@given(minor=st.integers(-(10**14), 10**14), currency=st.sampled_from(CURRENCIES))
def test_what_is_written_is_read_back_as_the_same_amount(minor, currency):
    assert minor_units(major_text(minor, currency), currency) == minor


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("1,312.40", "EUR", 131240),
        ("12.50", "EUR", 1250),
        ("5,800", "JPY", 5800),
        ("1,234,567", "JPY", 1234567),
        ("1,250.500", "KWD", 1250500),
        (" 1,000 ", "ISK", 100000),
    ],
)
def test_a_typed_amount_may_group_its_thousands(text, currency, minor):
    assert typed_minor_units(text, currency) == minor


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("12,50", "EUR"),
        ("1,2", "EUR"),
        ("1.312,40", "EUR"),
        ("1,23,456", "JPY"),
        (",50", "EUR"),
        ("1,250", "KWD"),
    ],
)
def test_a_comma_that_may_be_a_fraction_is_not_dropped(text, currency):
    with pytest.raises(AmountError, match="may stand for a fraction"):
        typed_minor_units(text, currency)


@pytest.mark.parametrize(
    ("currency", "multiple"), [("KWD", 10), ("bhd", 10), ("ISK", 100), ("ugx", 100), ("JPY", 1), ("HUF", 1)]
)
def test_the_step_of_an_amount_is_what_the_processor_moves(currency, multiple):
    assert step(currency) == multiple
