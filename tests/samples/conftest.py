from collections.abc import Callable, Iterator
from typing import Any

import pytest

from samples.processor.process import Processor, StartedProcessor, run_processor


@pytest.fixture(scope="session")
def running_processor() -> Iterator[StartedProcessor]:
    with run_processor() as processor:
        yield processor


@pytest.fixture
def processor(running_processor: StartedProcessor) -> Processor:
    """The sandbox with empty books and a clock that ticks with the real one."""
    running_processor.reset()
    return running_processor


@pytest.fixture
def stripe_api(processor: Processor) -> Any:
    """Stripe's own client, without retries of its own."""
    return processor.client().v1


@pytest.fixture
def pay(stripe_api: Any) -> Callable[..., Any]:
    """Make and confirm a payment intent: 20.00 USD on a good card, unless told otherwise."""

    def make(*, key: str | None = None, **given: Any) -> Any:
        params = {"amount": 2000, "currency": "usd", "payment_method": "pm_card_visa", "confirm": True}
        return stripe_api.payment_intents.create({**params, **given}, {"idempotency_key": key} if key else {})

    return make
