"""Any counts under any rule: the amount is the exact sum, rounded once."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from conversations.pricing import PriceRule, price_book, price_usage
from conversations.vocabulary import CostConfidence
from conversations.wire.shapes import Usage

RULES = sorted(price_book().rules.values(), key=lambda rule: rule.id)
BILLION = 10**9
counts = st.integers(min_value=0, max_value=2_000_000)


def day_of(rule: PriceRule) -> datetime:
    """A moment at which the rule holds: its first, or long before any change."""
    if rule.valid_from is None:
        return datetime(2023, 1, 1, tzinfo=UTC)
    return datetime.combine(rule.valid_from, datetime.min.time(), tzinfo=UTC) + timedelta(hours=1)


def exact_sum(rule: PriceRule, usage: Usage) -> Fraction:
    """The same bill in fractions, bucket by bucket."""
    buckets = {
        "input": usage.uncached_input or 0,
        "cache_read": usage.cache_read or 0,
        "cache_write_5m": usage.cache_write_5m or 0,
        "cache_write_1h": usage.cache_write_1h or 0,
    }
    card = rule.standard
    is_long = card.long_above is not None and sum(buckets.values()) > card.long_above
    rates = card.long_rates if is_long and card.long_rates is not None else card.rates
    total = Fraction(rates.output) * (usage.output or 0)
    for bucket, count in buckets.items():
        own = getattr(rates, bucket)
        total += Fraction(rates.input if own is None else own) * count
    return total / 1_000_000


@given(
    st.sampled_from(RULES),
    st.builds(
        Usage,
        uncached_input=counts,
        cache_read=counts,
        cache_write_5m=counts,
        cache_write_1h=counts,
        output=counts,
    ),
)
def test_an_amount_is_the_exact_sum_rounded_once(rule, usage):
    priced = price_usage(provider=rule.provider, model=rule.model, usage=usage, at=day_of(rule))

    assert priced.rule.removesuffix("+long") == rule.id
    assert isinstance(priced.amount, Decimal)
    assert priced.amount == Decimal(round(exact_sum(rule, usage) * BILLION)) / BILLION


@given(st.sampled_from(RULES), st.integers(min_value=-(10**30), max_value=10**30))
def test_no_count_makes_a_price_that_the_column_cannot_hold(rule, count):
    usage = Usage(uncached_input=count, output=0)

    priced = price_usage(provider=rule.provider, model=rule.model, usage=usage, at=day_of(rule))

    if priced.amount is None:
        assert priced.confidence == CostConfidence.UNKNOWN
    else:
        assert 0 <= priced.amount < BILLION
        assert priced.amount.as_tuple().exponent == -9
