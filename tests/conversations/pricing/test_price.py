from datetime import UTC, datetime
from decimal import Decimal

import pytest

from conversations.pricing import price_usage
from conversations.vocabulary import CostConfidence
from conversations.wire.shapes import Usage

AUTUMN = datetime(2026, 10, 1, 12, tzinfo=UTC)


def price(model="claude-sonnet-4-5", *, provider="anthropic", at=AUTUMN, service_tier="", **buckets):
    return price_usage(
        provider=provider, model=model, usage=Usage(**buckets), at=at, service_tier=service_tier
    )


def test_every_bucket_has_its_own_price():
    priced = price(
        uncached_input=2_000,
        cache_read=30_000,
        cache_write_5m=400,
        cache_write_1h=50,
        output=600,
        web_searches=2,
    )

    # 2,000 × 3 + 30,000 × 0.30 + 400 × 3.75 + 50 × 6 + 600 × 15, by the million, and 2 × 0.01.
    assert priced.amount == Decimal("0.045800000")
    assert priced.rule == "anthropic/claude-sonnet-4-5@start"
    assert priced.confidence == CostConfidence.EXACT
    assert priced.reason == ""


def test_reasoning_is_part_of_the_output_and_is_billed_once():
    assert price("gpt-5", provider="openai", uncached_input=0, output=700, reasoning=640).amount == (
        price("gpt-5", provider="openai", uncached_input=0, output=700).amount
    )


def test_an_amount_keeps_nine_decimals():
    priced = price("gpt-5-nano", provider="openai", uncached_input=1, output=0)

    assert priced.amount == Decimal("0.000000050")
    assert priced.amount.as_tuple().exponent == -9


@pytest.mark.parametrize(("cached", "kept"), [(1, "0.000000002"), (3, "0.000000008"), (2, "0.000000005")])
def test_an_amount_with_more_decimals_is_rounded_once_half_to_even(cached, kept):
    # One cached token of this model in a batch costs 0.0000000025.
    priced = price(
        "gpt-5-nano",
        provider="openai",
        service_tier="batch",
        uncached_input=0,
        cache_read=cached,
        output=0,
    )

    assert priced.amount == Decimal(kept)


def test_a_price_holds_from_its_day_on():
    before = datetime(2026, 8, 20, 23, 59, tzinfo=UTC)
    after = datetime(2026, 8, 21, 0, 0, tzinfo=UTC)

    old = price("gpt-5.6-sol", provider="openai", at=before, uncached_input=1_000, output=0)
    new = price("gpt-5.6-sol", provider="openai", at=after, uncached_input=1_000, output=0)

    assert (old.amount, old.rule) == (Decimal("0.005"), "openai/gpt-5.6-sol@start")
    assert (new.amount, new.rule) == (Decimal("0.004"), "openai/gpt-5.6-sol@2026-08-21")


def test_a_long_prompt_is_billed_at_the_long_rates_as_a_whole():
    at_the_edge = price(uncached_input=150_000, cache_read=50_000, output=10)
    beyond = price(uncached_input=150_000, cache_read=50_001, output=10)

    assert at_the_edge.amount == Decimal("0.465150000")
    assert beyond.amount == Decimal("0.930225600")
    assert beyond.rule == "anthropic/claude-sonnet-4-5@start+long"


def test_the_long_surcharge_of_opus_4_6_ended_on_its_day():
    old = price("claude-opus-4-6", at=datetime(2026, 3, 12, tzinfo=UTC), uncached_input=200_001, output=0)
    new = price("claude-opus-4-6", at=datetime(2026, 3, 13, tzinfo=UTC), uncached_input=200_001, output=0)

    assert (old.amount, new.amount) == (Decimal("2.00001"), Decimal("1.000005"))


@pytest.mark.parametrize(
    ("provider", "model", "tier", "amount", "rule"),
    [
        ("anthropic", "claude-haiku-4-5", "batch", "0.0005", "anthropic/claude-haiku-4-5@start+batch"),
        ("openai", "gpt-5", "flex", "0.000625", "openai/gpt-5@start+flex"),
        ("openai", "gpt-5", "priority", "0.0025", "openai/gpt-5@start+priority"),
        ("openai", "gpt-4o", "priority", "0.00425", "openai/gpt-4o@start+priority"),
        ("openai", "gpt-5", "default", "0.00125", "openai/gpt-5@start"),
    ],
)
def test_a_service_tier_has_its_own_prices(provider, model, tier, amount, rule):
    priced = price(model, provider=provider, service_tier=tier, uncached_input=1_000, output=0)

    assert (priced.amount, priced.rule) == (Decimal(amount), rule)
    assert priced.confidence == CostConfidence.EXACT


def test_the_tier_named_in_the_usage_counts_where_none_is_given():
    priced = price(uncached_input=1_000, output=0, raw={"service_tier": "batch"})

    assert priced.amount == Decimal("0.0015")


@pytest.mark.parametrize(("provider", "tier"), [("anthropic", "priority"), ("openai", "scale")])
def test_a_committed_tier_is_an_estimate_at_the_list_price(provider, tier):
    model = {"anthropic": "claude-opus-4-1", "openai": "gpt-4o"}[provider]

    priced = price(model, provider=provider, service_tier=tier, uncached_input=1_000, output=0)

    assert priced.confidence == CostConfidence.ESTIMATED
    assert priced.reason == f"tier {tier} is priced as standard"
    assert priced.amount == price(model, provider=provider, uncached_input=1_000, output=0).amount


def test_factors_for_speed_and_country_stack():
    priced = price(
        "claude-opus-5-5", uncached_input=1_000, output=0, raw={"speed": "fast", "inference_geo": "us"}
    )

    assert priced.amount == Decimal("0.0088")
    assert priced.rule == "anthropic/claude-opus-5-5@start+fast+us"
    assert priced.confidence == CostConfidence.EXACT


def test_passes_on_another_model_are_added_at_that_models_price():
    advisor = {
        "type": "advisor_message",
        "model": "claude-opus-4-8",
        "input_tokens": 2_000,
        "output_tokens": 10,
    }
    answer = {"type": "message", "input_tokens": 1_000, "output_tokens": 100}
    raw = {"input_tokens": 1_000, "output_tokens": 100, "iterations": [advisor, answer]}

    priced = price("claude-sonnet-5", uncached_input=1_000, output=100, raw=raw)

    # 2,000 × 5 + 10 × 25 on the advisor, 1,000 × 2 + 100 × 10 on the model that answered.
    assert priced.amount == Decimal("0.01325")
    assert priced.rule == "anthropic/claude-sonnet-5@start"
    assert priced.confidence == CostConfidence.EXACT


def test_passes_that_do_not_say_their_tokens_leave_the_totals_to_count():
    raw = {"input_tokens": 1_000, "output_tokens": 100, "iterations": [{"type": "message"}]}

    assert price(uncached_input=1_000, output=100, raw=raw).amount == Decimal("0.0045")


def test_a_pass_keeps_the_split_of_its_cache_writes():
    answer = {
        "type": "message",
        "input_tokens": 0,
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_1h_input_tokens": 100, "ephemeral_5m_input_tokens": 200},
        "output_tokens": 0,
    }

    priced = price(uncached_input=0, output=0, raw={"iterations": [answer]})

    assert priced.amount == Decimal("0.00135")


def test_an_unknown_output_leaves_a_lower_bound():
    priced = price(uncached_input=1_000)

    assert priced.amount == Decimal("0.003")
    assert priced.confidence == CostConfidence.ESTIMATED
    assert priced.reason == "the output is not known: a lower bound"


def test_an_attempt_that_was_cut_off_is_an_estimate_even_with_counts():
    priced = price_usage(
        provider="anthropic",
        model="claude-sonnet-4-5",
        usage=Usage(uncached_input=1_000, output=1),
        at=AUTUMN,
        is_complete=False,
    )

    assert priced.amount == Decimal("0.003015")
    assert priced.confidence == CostConfidence.ESTIMATED


@pytest.mark.parametrize(
    ("provider", "model", "usage", "reason"),
    [
        ("anthropic", "claude-sonnet-4-5", None, "the provider sent no token counts"),
        ("anthropic", "claude-sonnet-4-5", Usage(), "the provider sent no token counts"),
        ("anthropic", "claude-next", Usage(uncached_input=1, output=1), "no price for model claude-next"),
        ("anthropic", "", Usage(uncached_input=1, output=1), "no price for model without a name"),
        ("heroku", "claude-sonnet-4-5", Usage(output=1), "no price list for provider heroku"),
        ("anthropic", "claude-sonnet-4-5", Usage(uncached_input=-1, output=1), "uncached_input is negative"),
        (
            "anthropic",
            "claude-sonnet-4-5",
            Usage(uncached_input=10**16, output=1),
            "the token counts are beyond any bill",
        ),
    ],
)
def test_what_cannot_be_priced_is_unknown_and_never_zero(provider, model, usage, reason):
    priced = price_usage(provider=provider, model=model, usage=usage, at=AUTUMN)

    assert priced.amount is None
    assert priced.rule == ""
    assert priced.confidence == CostConfidence.UNKNOWN
    assert priced.reason == reason


def test_tokens_in_a_bucket_without_a_price_are_billed_as_input_and_called_an_estimate():
    priced = price("gpt-4", provider="openai", uncached_input=1_000, cache_read=1_000, output=0)

    assert priced.amount == Decimal("0.06")
    assert priced.confidence == CostConfidence.ESTIMATED
    assert priced.reason == "cache_read has no price of its own"


def test_audio_is_an_estimate():
    raw = {"prompt_tokens_details": {"audio_tokens": 44}}

    priced = price("gpt-4o-audio-preview", provider="openai", uncached_input=64, output=9, raw=raw)

    assert priced.confidence == CostConfidence.ESTIMATED
    assert priced.reason == "audio is priced as text"


def test_a_moment_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        price(at=AUTUMN.replace(tzinfo=None), uncached_input=1, output=1)
