"""Processors: one adapter each. An effect of a processor without an adapter is settled by reports only."""

from datetime import timedelta
from functools import cache

from django.conf import settings

from conversations.errors import StoreError
from ledger.processors.protocol import Adapter, Reader
from ledger.processors.stripe.reader import StripeReader

STRIPE = "stripe"


def adapter_for(processor: str) -> Adapter | None:
    """Return the processor's adapter, or None where it has none or is not configured."""
    if processor == STRIPE and settings.STRIPE_API_KEY:
        return _stripe(settings.STRIPE_API_KEY, settings.STRIPE_API_BASE, settings.STRIPE_TIMEOUT_SECONDS)
    return None


def reader_for(processor: str, *, place: str = "") -> Reader:
    """Return what reads the processor's objects: no network and no key is needed for that."""
    if has_reader(processor):
        return StripeReader()
    named = f"the processor {processor!r}" if processor else "a tool without a processor"
    raise StoreError(
        "processor-unknown",
        f"answers of {named} cannot be read here; report the outcome instead",
        place=place,
    )


def has_reader(processor: str) -> bool:
    """Tell whether the processor's own objects can be read here."""
    return processor == STRIPE


def key_life(processor: str) -> timedelta:
    """Return how long the processor remembers a key: after that, the same request is a new one.

    Of a processor that we know nothing of we assume that it remembers none.
    """
    if processor == STRIPE:
        return timedelta(hours=settings.STRIPE_KEY_LIFE_HOURS)
    return timedelta(hours=settings.OTHER_KEY_LIFE_HOURS)


@cache
def _stripe(api_key: str, api_base: str, timeout: int) -> Adapter:
    from ledger.processors.stripe.adapter import StripeAdapter

    return StripeAdapter(api_key=api_key, api_base=api_base, timeout=timeout)
