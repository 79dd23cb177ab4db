"""What one attempt cost, from its token buckets and the price rule of its day.

Sums are exact decimals. The column keeps nine decimals; an amount with more
(cheap models, cached and in a batch) is rounded once, half to even, when the
row is made: by at most half a billionth of a dollar for an attempt.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal

from conversations.pricing.matching import find_model
from conversations.pricing.rules import PriceRule, Provider, RateCard, Rates, price_book
from conversations.vocabulary import CostConfidence
from conversations.wire.shapes import Usage
from conversations.wire.usage import count_in, counted_passes

_MILLION = Decimal(1_000_000)
_PLACES = Decimal("0.000000001")
# Wide enough that no sum of 64-bit counts is rounded before its only rounding.
_EXACT = Context(prec=60, rounding=ROUND_HALF_EVEN)
_CEILING = Decimal(1_000_000_000)  # numeric(18,9) ends here
_STANDARD_TIERS = frozenset({"", "standard", "default", "auto", "on_demand", "standard_only"})


@dataclass(frozen=True, slots=True)
class Price:
    """The cost in US dollars with nine decimals, the rule that made it, and how sure it is.

    `amount` is None exactly where `confidence` is unknown. `reason` says why a
    price is estimated or unknown, and is empty for an exact one.
    """

    amount: Decimal | None
    rule: str
    confidence: CostConfidence
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum on its way, before its only rounding."""

    amount: Decimal
    rule: str
    doubts: tuple[str, ...]


class _NoPriceError(Exception):
    """Why no price can be given."""


def price_usage(
    *,
    provider: str,
    model: str,
    usage: Usage | None,
    at: datetime,
    service_tier: str = "",
    is_complete: bool = True,
) -> Price:
    """Price one attempt by the rule that held at `at`.

    `model` is the served one where known, else the requested one. An attempt
    that was cut off or failed (`is_complete` false), or whose output is not
    known, gets what is certain: a lower bound, called estimated. Where no rule
    or no usage is known there is no amount at all, never a zero.
    """
    try:
        total = _sum(provider, model, usage, at, service_tier)
    except _NoPriceError as problem:
        return Price(amount=None, rule="", confidence=CostConfidence.UNKNOWN, reason=str(problem))
    doubts = total.doubts
    if not is_complete:
        doubts = (*doubts, "the attempt did not end: what is billed may be more")
    confidence = CostConfidence.ESTIMATED if doubts else CostConfidence.EXACT
    amount = total.amount.quantize(_PLACES, context=_EXACT)
    return Price(
        amount=amount, rule=total.rule, confidence=confidence, reason="; ".join(dict.fromkeys(doubts))
    )


def _sum(provider: str, model: str, usage: Usage | None, at: datetime, service_tier: str) -> _Sum:
    if at.tzinfo is None:
        raise ValueError("at: a moment without a time zone names no day")
    if usage is None or (usage.uncached_input is None and usage.output is None):
        raise _NoPriceError("the provider sent no token counts")
    known = price_book().provider(provider)
    if known is None:
        raise _NoPriceError(f"no price list for provider {provider or 'without a name'}")
    tier = (service_tier or _text(usage.raw, "service_tier")).lower()
    rule = _rule(known, model, at)
    parts = [
        _tokens(known, _rule(known, name or model, at), part, tier) for name, part in _billed_passes(usage)
    ]
    amount = sum((part.amount for part in parts), Decimal(0))
    amount += rule.web_search * _count(usage.web_searches, "web_searches")
    if amount + _PLACES >= _CEILING:
        raise _NoPriceError("the token counts are beyond any bill")
    doubts = tuple(doubt for part in parts for doubt in part.doubts)
    # Passes of several models name the one that answered; the others show in the raw usage.
    return _Sum(amount=amount, rule=parts[-1].rule, doubts=doubts)


def _rule(provider: Provider, model: str, at: datetime) -> PriceRule:
    found = find_model(provider, model)
    if found is None:
        raise _NoPriceError(f"no price for model {model or 'without a name'}")
    rule = found.rule_at(at.astimezone(UTC).date())
    if rule is None:
        raise _NoPriceError(f"no price for {found.name} on that day")
    return rule


def _billed_passes(usage: Usage) -> Iterator[tuple[str, Usage]]:
    """Yield (model or empty, buckets) for each pass over a model that is billed by itself.

    Anthropic's totals leave out compaction and advisor passes, which may have
    run on another model, and a long prompt is judged pass by pass.
    """
    passes = counted_passes(usage.raw)
    if not passes:
        yield "", usage
        return
    carried: dict[str, object] = {
        key: usage.raw[key] for key in ("speed", "inference_geo") if key in usage.raw
    }
    for entry in passes:
        split = entry.get("cache_creation")
        split = split if isinstance(split, dict) else {}
        one_hour = count_in(split, "ephemeral_1h_input_tokens") or 0
        written = count_in(entry, "cache_creation_input_tokens") or 0
        buckets = Usage(
            uncached_input=count_in(entry, "input_tokens"),
            cache_read=count_in(entry, "cache_read_input_tokens"),
            cache_write_5m=max(written - one_hour, 0),
            cache_write_1h=one_hour,
            output=count_in(entry, "output_tokens"),
            raw={**carried, **entry},
        )
        yield _text(entry, "model"), buckets


def _tokens(provider: Provider, rule: PriceRule, usage: Usage, tier: str) -> _Sum:
    counts = {
        "input": _count(usage.uncached_input, "uncached_input"),
        "cache_read": _count(usage.cache_read, "cache_read"),
        "cache_write_5m": _count(usage.cache_write_5m, "cache_write_5m"),
        "cache_write_1h": _count(usage.cache_write_1h, "cache_write_1h"),
    }
    card, name, doubts = _card(provider, rule, usage, tier)
    prompt = sum(counts.values())
    rates = card.rates
    if card.long_rates is not None and card.long_above is not None and prompt > card.long_above:
        rates, name = card.long_rates, f"{name}+long"
    doubts += [f"{bucket} has no price of its own" for bucket in _unpriced(rates, counts)]
    if usage.uncached_input is None:
        doubts.append("the input is not known: a lower bound")
    if usage.output is None:
        doubts.append("the output is not known: a lower bound")
    if _has_audio(usage.raw):
        doubts.append("audio is priced as text")
    amount = _count(usage.output, "output") * rates.output
    for bucket, count in counts.items():
        own: Decimal | None = getattr(rates, bucket)
        amount += count * (rates.input if own is None else own)
    return _Sum(amount=amount / _MILLION, rule=name, doubts=tuple(doubts))


def _card(provider: Provider, rule: PriceRule, usage: Usage, tier: str) -> tuple[RateCard, str, list[str]]:
    """The tier's rates, the rule id with what was applied to it, and the doubts that leaves."""
    card, name, doubts = rule.standard, rule.id, []
    if _text(usage.raw, "speed") == "fast" and "fast" in rule.tiers:
        card, name = rule.tiers["fast"], f"{name}+fast"
    elif tier in rule.tiers and tier not in provider.unpriced_tiers:
        card, name = rule.tiers[tier], f"{name}+{tier}"
    elif tier not in _STANDARD_TIERS or _text(usage.raw, "speed") == "fast":
        doubts.append(f"tier {tier or 'fast'} is priced as standard")
    if _text(usage.raw, "inference_geo").lower() == "us":
        if rule.us_factor is None:
            doubts.append("a request kept in one country is priced as any other")
        else:
            card, name = card.times(rule.us_factor), f"{name}+us"
    return card, name, doubts


def _unpriced(rates: Rates, counts: Mapping[str, int]) -> Iterator[str]:
    return (bucket for bucket, count in counts.items() if count and getattr(rates, bucket) is None)


def _has_audio(raw: Mapping[str, object]) -> bool:
    details = (raw.get("prompt_tokens_details"), raw.get("completion_tokens_details"))
    return any(isinstance(detail, dict) and detail.get("audio_tokens") for detail in details)


def _count(value: int | None, bucket: str) -> int:
    if value is None:
        return 0
    if value < 0:
        raise _NoPriceError(f"{bucket} is negative")
    return value


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""
