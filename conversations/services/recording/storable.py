"""Values from outside, made to fit the columns that hold them."""

import hashlib
from typing import Any

from conversations.wire.literals import readable_copy


def fitted(value: str, length: int) -> str:
    """Make the value fit its column; of one that is too long, its beginning and a digest of the whole."""
    value = readable_copy(value)
    if len(value) <= length:
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()[: min(32, length // 2)]
    return f"{value[: length - len(digest) - 1]}~{digest}"


# What a whole number may be for the writer of JSON; provider's counts are far below, nonsense is not.
_LEAST, _MOST = -(2**63), 2**64 - 1


def storable(value: object) -> Any:
    """Make a JSON value one that jsonb takes: no NUL, no lone surrogate, numbers by their spelling."""
    if isinstance(value, dict):
        return {readable_copy(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(item) for item in value]
    if value is None or (isinstance(value, int) and _LEAST <= value <= _MOST):
        return value
    return readable_copy(str(value))
