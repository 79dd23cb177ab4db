"""Dated price rules and what an attempt cost by them. The design is in docs/costs.md."""

from conversations.pricing.price import Price, price_usage
from conversations.pricing.rules import PriceRule, price_book

__all__ = ["Price", "PriceRule", "price_book", "price_usage"]
