"""How long to wait before the store is asked again."""

import random


def scattered(seconds: float) -> float:
    """Return somewhat less than `seconds`: not all processes ask at the same moment."""
    return seconds * random.uniform(0.7, 1.0)  # noqa: S311 -- no secret
