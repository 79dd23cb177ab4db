from datetime import date
from decimal import Decimal

import pytest

from conversations.pricing.rules import PRICES_FILE, PriceFileError, price_book, read_price_book

HEAD = 'currency = "USD"\n[providers.anthropic]\nnames = ["anthropic"]\nweb_search = "0.01"\n'


@pytest.fixture
def read(tmp_path):
    def read_text(models: str, *, head: str = HEAD):
        file = tmp_path / "prices.toml"
        file.write_text(head + models, encoding="utf-8")
        return read_price_book(file)

    return read_text


def model(prices: str, name: str = "claude-test") -> str:
    return f'[[models]]\nprovider = "anthropic"\nname = "{name}"\n{prices}'


ROW = '[[models.prices]]\nstandard = { input = "3", output = "15" }\n'


def test_rules_of_one_model_are_newest_first(read):
    dated = '[[models.prices]]\nfrom = 2026-03-13\nstandard = { input = "2", output = "10" }\n'

    rules = list(read(model(ROW + dated)).rules.values())

    assert [(rule.id, rule.valid_from) for rule in rules] == [
        ("anthropic/claude-test@2026-03-13", date(2026, 3, 13)),
        ("anthropic/claude-test@start", None),
    ]


def test_a_correction_replaces_a_row_of_the_same_day_and_leaves_it_readable(read):
    corrected = '[[models.prices]]\nrevision = 2\nstandard = { input = "4", output = "15" }\n'

    book = read(model(ROW + corrected))

    priced = book.providers["anthropic"].models["claude-test"].rule_at(date(2026, 1, 1))
    assert priced is not None
    assert priced.id == "anthropic/claude-test@start#2"
    old = book.rule("anthropic/claude-test@start")
    assert old is not None
    assert old.standard.rates.input == Decimal(3)


def test_a_stored_rule_id_is_found_with_what_was_applied_to_it(read):
    rule = read(model(ROW)).rule("anthropic/claude-test@start+long+us")

    assert rule is not None
    assert rule.id == "anthropic/claude-test@start"


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ('standard = { input = 3.0, output = "15" }', "3.0 is not a price written as a string"),
        ('standard = { input = "-3", output = "15" }', "'-3' is not a price"),
        ('standard = { input = "1e3", output = "15" }', "'1e3' is not a price"),
        ('standard = { input = "3" }', "needs input and output"),
        ('standard = { input = "3", output = "15", cache = "1" }', "needs input and output, and knows only"),
        ('standard = { input = "3", output = "15" }\nbatches = "0.5"', "unknown keys"),
    ],
)
def test_a_faulty_row_is_refused_by_its_name(read, row, complaint):
    with pytest.raises(PriceFileError, match="anthropic/claude-test@start") as refused:
        read(model(f"[[models.prices]]\n{row}\n"))

    assert complaint in str(refused.value)


def test_two_rows_of_one_day_are_refused(read):
    with pytest.raises(PriceFileError, match="two rows with one date and revision"):
        read(model(ROW + ROW))


def test_one_name_for_two_models_is_refused(read):
    with pytest.raises(PriceFileError, match="anthropic/claude-test: the name stands for two models"):
        read(model(ROW) + model(ROW))


def test_another_currency_is_refused(read):
    with pytest.raises(PriceFileError, match="US dollars only"):
        read(model(ROW), head=HEAD.replace("USD", "EUR"))


def test_the_shipped_file_reads_whole_and_in_decimals():
    book = read_price_book(PRICES_FILE)

    assert {rule.provider for rule in book.rules.values()} == {"anthropic", "openai"}
    for rule in book.rules.values():
        cards = [rule.standard, *rule.tiers.values()]
        rates = [rate for card in cards for rate in (card.rates, card.long_rates) if rate is not None]
        assert all(isinstance(value, Decimal) for rate in rates for value in (rate.input, rate.output)), (
            rule.id
        )


@pytest.mark.parametrize(
    "rule_id",
    [
        "anthropic/claude-sonnet-4-5@start",
        "anthropic/claude-opus-5-5@start",
        "openai/gpt-4o@start",
        "openai/gpt-5.6-sol@2026-08-21",
    ],
)
def test_cache_prices_stand_in_the_published_ratio_to_input(rule_id):
    rule = price_book().rule(rule_id)
    assert rule is not None
    rates = rule.standard.rates
    ratio = {"anthropic/claude-opus-5-5@start": "0.05", "openai/gpt-4o@start": "0.5"}.get(rule_id, "0.1")

    assert rates.cache_read == rates.input * Decimal(ratio)
    if rates.cache_write_5m is not None:
        assert rates.cache_write_5m == rates.input * Decimal("1.25")
