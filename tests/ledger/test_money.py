import pytest

from conversations.errors import StoreError

pytestmark = pytest.mark.django_db


@pytest.fixture
def effect_of(talk, register):
    """Begin a call with these arguments, whose amount is written in major or minor units."""

    def begin(arguments, unit):
        register(amount_unit=unit)
        talk.says()
        return talk.begins(talk.calls("toolu_1", arguments=arguments), "toolu_1").effect

    return begin


@pytest.mark.parametrize(
    ("arguments", "unit", "amount"),
    [
        ('{"amount": "14200", "currency": "JPY"}', "major", 14200),
        ('{"amount": 5800, "currency": "jpy"}', "minor", 5800),
        ('{"amount": "31.500", "currency": "KWD"}', "major", 31500),
        ('{"amount": 5.12, "currency": "KWD"}', "major", 5120),
        ('{"amount": "19.99", "currency": "usd"}', "major", 1999),
        ('{"amount": 19.99, "currency": "usd"}', "major", 1999),
        ('{"amount": 0.07, "currency": "usd"}', "major", 7),
        ('{"amount": 20, "currency": "usd"}', "major", 2000),
        ('{"amount": "5", "currency": "ISK"}', "major", 500),
        ('{"amount": 500, "currency": "UGX"}', "minor", 500),
        ('{"amount": 1.9e3, "currency": "usd"}', "minor", 1900),
        ('{"amount": 999999999999, "currency": "idr"}', "minor", 999999999999),
    ],
)
def test_an_amount_is_read_in_the_processors_minor_units(effect_of, arguments, unit, amount):
    assert effect_of(arguments, unit).amount_minor == amount


@pytest.mark.parametrize(
    ("arguments", "unit"),
    [
        ('{"amount": "142.5", "currency": "JPY"}', "major"),
        ('{"amount": "19.999", "currency": "usd"}', "major"),
        ('{"amount": "1,900.00", "currency": "usd"}', "major"),
        ('{"amount": "a lot", "currency": "usd"}', "major"),
        ('{"amount": 19.99, "currency": "usd"}', "minor"),
        ('{"amount": "1900", "currency": "usd"}', "minor"),
        ('{"amount": true, "currency": "usd"}', "minor"),
    ],
)
def test_an_amount_that_would_have_to_be_rounded_or_guessed_is_refused(effect_of, arguments, unit):
    with pytest.raises(StoreError) as refused:
        effect_of(arguments, unit)

    assert refused.value.rule == "amount-unreadable"
    assert "call toolu_1" in refused.value.place


@pytest.mark.parametrize(
    ("currency", "amount"), [("jpy", 5800), ("kwd", 31500), ("isk", 50000), ("ugx", 5000000), ("usd", 1999)]
)
def test_what_the_processor_took_is_what_was_asked_for(talk, register, charge, currency, amount):
    register()
    talk.says()
    seq = talk.calls("toolu_1", arguments=f'{{"amount": {amount}, "currency": "{currency}"}}')

    effect = charge(talk, seq, "toolu_1", amount=amount, currency=currency).effect

    assert (effect.state, effect.amount_minor, effect.amount_settled_minor, effect.currency) == (
        "applied",
        amount,
        amount,
        currency,
    )
