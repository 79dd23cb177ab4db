"""How long to wait before the store is asked again."""

import random
from typing import Any


def scattered(seconds: float) -> float:
    """Return somewhat less than `seconds`: not all processes ask at the same moment."""
    return seconds * random.uniform(0.7, 1.0)  # noqa: S311 -- no secret


def asked_for(headers: Any) -> float | None:
    """Return how many seconds an answer asks to wait; None where it does not say, or says it as a date."""
    value = headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() else None
