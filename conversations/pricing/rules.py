"""The dated price rules, read from `prices.toml` and checked before anything is priced by them."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

PRICES_FILE = Path(__file__).with_name("prices.toml")
TIERS = ("batch", "flex", "priority", "fast")
_RATE_KEYS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")


class PriceFileError(ValueError):
    """The price file breaks a rule of its own; the message names model and row."""


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for a million tokens; None is a bucket without a price of its own."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None

    def times(self, factor: Decimal) -> "Rates":
        def scaled(rate: Decimal | None) -> Decimal | None:
            return None if rate is None else rate * factor

        return Rates(
            input=self.input * factor,
            output=self.output * factor,
            cache_read=scaled(self.cache_read),
            cache_write_5m=scaled(self.cache_write_5m),
            cache_write_1h=scaled(self.cache_write_1h),
        )


@dataclass(frozen=True, slots=True)
class RateCard:
    """What one tier costs: its rates, and other ones for a whole request with a long prompt."""

    rates: Rates
    long_above: int | None = None
    long_rates: Rates | None = None

    def times(self, factor: Decimal) -> "RateCard":
        long_rates = self.long_rates.times(factor) if self.long_rates else None
        return RateCard(self.rates.times(factor), self.long_above, long_rates)


@dataclass(frozen=True, slots=True)
class PriceRule:
    """One row of the file: what a model costs from a day on."""

    id: str
    provider: str
    model: str
    valid_from: date | None
    revision: int
    standard: RateCard
    tiers: dict[str, RateCard]
    us_factor: Decimal | None
    web_search: Decimal


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model by its plain name, the names it also goes by, and its rules, newest first."""

    provider: str
    name: str
    aliases: tuple[str, ...]
    prefixes: tuple[str, ...]
    rules: tuple[PriceRule, ...]

    def rule_at(self, day: date) -> PriceRule | None:
        return next((rule for rule in self.rules if rule.valid_from is None or rule.valid_from <= day), None)


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    names: frozenset[str]
    unpriced_tiers: frozenset[str]
    models: dict[str, PricedModel]
    by_prefix: tuple[tuple[str, PricedModel], ...]


@dataclass(frozen=True, slots=True)
class PriceBook:
    providers: dict[str, Provider]
    rules: dict[str, PriceRule]

    def provider(self, name: str) -> Provider | None:
        return self.providers.get(name.strip().lower())

    def rule(self, rule_id: str) -> PriceRule | None:
        """The row behind a stored rule id, which may carry the tier and the kind of request."""
        return self.rules.get(rule_id.partition("+")[0])


@cache
def price_book() -> PriceBook:
    return read_price_book(PRICES_FILE)


def read_price_book(path: Path) -> PriceBook:
    """Read and check a price file. Raises PriceFileError, naming the model and the row."""
    with path.open("rb") as file:
        content = tomllib.load(file)
    if content.get("currency") != "USD":
        raise PriceFileError("currency: costs are kept in US dollars only")
    models = [_model(entry, content["providers"]) for entry in content["models"]]
    providers = {
        name: _provider(name, entry, [model for model in models if model.provider == name])
        for name, entry in content["providers"].items()
    }
    rules: dict[str, PriceRule] = {}
    for rule in (rule for model in models for rule in model.rules):
        if rule.id in rules:
            raise PriceFileError(f"{rule.id}: two rows with one date and revision")
        rules[rule.id] = rule
    by_name = {name: provider for provider in providers.values() for name in provider.names}
    return PriceBook(providers=by_name, rules=rules)


def _provider(name: str, entry: dict[str, Any], models: list[PricedModel]) -> Provider:
    by_name: dict[str, PricedModel] = {}
    for model in models:
        for known in (model.name, *model.aliases):
            if known in by_name:
                raise PriceFileError(f"{name}/{known}: the name stands for two models")
            by_name[known] = model
    # The longest prefix first: `ft:gpt-4o-mini-…` must not be taken for `ft:gpt-4o-…`.
    prefixes = sorted(
        ((p, model) for model in models for p in model.prefixes), key=lambda pair: -len(pair[0])
    )
    return Provider(
        name=name,
        names=frozenset(entry["names"]),
        unpriced_tiers=frozenset(entry.get("unpriced_tiers", ())),
        models=by_name,
        by_prefix=tuple(prefixes),
    )


def _model(entry: dict[str, Any], providers: dict[str, Any]) -> PricedModel:
    provider, name = entry["provider"], entry["name"]
    if provider not in providers:
        raise PriceFileError(f"{provider}/{name}: no such provider")
    default_search = _amount(providers[provider]["web_search"], f"{provider}.web_search")
    rows = [_rule(provider, name, row, default_search) for row in entry["prices"]]
    rows.sort(key=lambda rule: (rule.valid_from or date.min, rule.revision), reverse=True)
    return PricedModel(
        provider=provider,
        name=name,
        aliases=tuple(entry.get("aliases", ())),
        prefixes=tuple(entry.get("prefixes", ())),
        rules=tuple(rows),
    )


def _rule(provider: str, model: str, row: dict[str, Any], default_search: Decimal) -> PriceRule:
    valid_from: date | None = row.get("from")
    revision = row.get("revision", 1)
    rule_id = f"{provider}/{model}@{valid_from or 'start'}" + (f"#{revision}" if revision > 1 else "")
    unknown = set(row) - {"from", "revision", "standard", "long", "us_factor", "web_search", *TIERS}
    if unknown:
        raise PriceFileError(f"{rule_id}: unknown keys {sorted(unknown)}")
    standard = _card({**row["standard"], **({"long": row["long"]} if "long" in row else {})}, rule_id)
    return PriceRule(
        id=rule_id,
        provider=provider,
        model=model,
        valid_from=valid_from,
        revision=revision,
        standard=standard,
        tiers={tier: _tier(row[tier], standard, f"{rule_id}.{tier}") for tier in TIERS if tier in row},
        us_factor=_amount(row["us_factor"], rule_id) if "us_factor" in row else None,
        web_search=_amount(row["web_search"], rule_id) if "web_search" in row else default_search,
    )


def _tier(value: str | dict[str, Any], standard: RateCard, place: str) -> RateCard:
    return _card(value, place) if isinstance(value, dict) else standard.times(_amount(value, place))


def _card(table: dict[str, Any], place: str) -> RateCard:
    long = table.get("long")
    rates = _rates({key: value for key, value in table.items() if key != "long"}, place)
    if long is None:
        return RateCard(rates)
    long_rates = _rates({key: value for key, value in long.items() if key != "above"}, f"{place}.long")
    return RateCard(rates, long_above=long["above"], long_rates=long_rates)


def _rates(table: dict[str, Any], place: str) -> Rates:
    unknown = set(table) - set(_RATE_KEYS)
    if unknown or not {"input", "output"} <= set(table):
        raise PriceFileError(f"{place}: needs input and output, and knows only {', '.join(_RATE_KEYS)}")
    return Rates(**{key: _amount(value, f"{place}.{key}") for key, value in table.items()})


def _amount(value: object, place: str) -> Decimal:
    """A price from its text; a bare TOML number would have been a float on the way."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", value):
        raise PriceFileError(f"{place}: {value!r} is not a price written as a string")
    return Decimal(value)
