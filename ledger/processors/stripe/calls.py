"""Talking to Stripe through its own SDK: one client, timeouts, no retries of its own.

The SDK puts a random idempotency key on every POST that has none, and tries again by itself:
both would make a second operation that nobody recorded. Every POST here is given the stored
key, and whether to try again is the ledger's decision.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import stripe

from ledger.processors.protocol import ProcessorUnreachableError

PAGE = 100


def make_client(*, api_key: str, api_base: str, timeout: int) -> stripe.StripeClient:
    return stripe.StripeClient(
        api_key,
        base_addresses={"api": api_base} if api_base else {},
        max_network_retries=0,
        http_client=stripe.RequestsClient(timeout=timeout),
    )


def read(call: Callable[[], Any]) -> Any:
    """Make a call that changes nothing. Raises ProcessorUnreachableError where it was not answered."""
    try:
        return call()
    except stripe.InvalidRequestError:
        raise
    except stripe.StripeError as error:
        raise ProcessorUnreachableError(f"{type(error).__name__}: {error.user_message}") from error


def every(listing: Callable[[Any], Any], params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through all pages of a list; newest first, as Stripe lists."""
    asked = {"limit": PAGE, **params}
    while True:
        page = read(partial(listing, asked))
        yield from map(plain, page.data)
        if not page.has_more:
            return
        asked = {**asked, "starting_after": page.data[-1].id}


def plain(thing: Any) -> dict[str, Any]:
    """Return an object of the SDK as the mapping that crossed the wire."""
    found: dict[str, Any] = thing.to_dict() if hasattr(thing, "to_dict") else dict(thing)
    return found
