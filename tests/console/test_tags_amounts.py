from decimal import Decimal

import pytest

from tests.console.rendering import render


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (131240, "EUR", '<span class="cur">EUR</span>1,312.40'),
        (14200, "JPY", '<span class="cur">JPY</span>14,200'),
        (580, "jpy", '<span class="cur">JPY</span>580'),
        (31500, "KWD", '<span class="cur">KWD</span>31.500'),
        (-7699, "USD", '<span class="cur">USD</span>−76.99'),
        (-14200, "JPY", '<span class="cur">JPY</span>−14,200'),
        (5, "EUR", '<span class="cur">EUR</span>0.05'),
        (-5, "EUR", '<span class="cur">EUR</span>−0.05'),
        (1, "BHD", '<span class="cur">BHD</span>0.001'),
        (500, "ISK", '<span class="cur">ISK</span>5'),
        (123450, "UGX", '<span class="cur">UGX</span>1,234.50'),
        (1234567890123, "XOF", '<span class="cur">XOF</span>1,234,567,890,123'),
        (4821035, "GBP", '<span class="cur">GBP</span>48,210.35'),
    ],
)
def test_an_amount_is_its_currency_then_the_number_in_that_currencys_decimals(minor, currency, text):
    assert (
        render("{% money minor currency %}", minor=minor, currency=currency)
        == f'<span class="amount">{text}</span>'
    )


def test_a_zero_is_muted():
    assert render("{% money 0 'JPY' %}") == '<span class="amount muted"><span class="cur">JPY</span>0</span>'


def test_no_amount_is_an_en_dash():
    assert render("{% money nothing 'EUR' %}", nothing=None) == '<span class="amount muted">–</span>'


def test_a_column_with_its_currency_in_the_head_shows_bare_numbers():
    assert render("{% money 131240 'EUR' bare=True %}") == '<span class="amount">1,312.40</span>'


def test_the_one_sum_of_a_page_is_large():
    assert render("{% money 131240 'EUR' total=True %}") == (
        '<span class="amount amount-sum"><span class="cur">EUR</span>1,312.40</span>'
    )


def test_an_amount_without_a_currency_says_that_it_is_in_minor_units():
    assert render("{% money 131240 '' %}") == (
        '<span class="amount">131,240 <span class="cur">minor units</span></span>'
    )


def test_a_hostile_currency_is_escaped():
    assert render("{% money 100 currency %}", currency="<b>\u202e") == (
        '<span class="amount"><span class="cur">&lt;B&gt;'
        '<span class="hidden-mark" title="U+202E, right-to-left override">U+202E</span></span>1.00</span>'
    )


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        ("0.227134567", "0.2271"),
        ("0.22715", "0.2272"),
        ("0.227150000", "0.2272"),
        ("1234567.5", "1,234,567.5000"),
        ("-0.5", "−0.5000"),
        ("0.000049999", "&lt; 0.0001"),
        ("-0.000000001", "&gt; −0.0001"),
        ("0.00005", "0.0001"),
    ],
)
def test_a_cost_is_rounded_to_four_decimals_and_never_to_a_false_zero(cost, text):
    assert render("{% cost cost %}", cost=Decimal(cost)) == f'<span class="amount">{text}</span>'


def test_a_cost_may_name_its_currency():
    assert render("{% cost cost currency='USD' %}", cost=Decimal("0.0191")) == (
        '<span class="amount"><span class="cur">USD</span>0.0191</span>'
    )


def test_a_cost_of_zero_is_muted_and_an_unknown_one_an_en_dash():
    assert render("{% cost cost %}", cost=Decimal("0E-9")) == '<span class="amount muted">0.0000</span>'
    assert render("{% cost cost %}", cost=None) == '<span class="amount muted">–</span>'


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (2148, "2,148 bytes"),
        (9999, "9,999 bytes"),
        (10_000, "10 KB"),
        (412_345, "412 KB"),
        (999_499, "999 KB"),
        (1_000_000, "1.0 MB"),
        (1_449_999, "1.4 MB"),
        (52_428_800, "52 MB"),
        (7_300_000_000, "7.3 GB"),
        (2_000_000_000_000_000, "2,000 TB"),
        (None, "–"),
    ],
)
def test_sizes_are_exact_while_small(size, text):
    assert render("{{ size|bytesize }}", size=size) == text
