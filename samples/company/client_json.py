"""How a client's JSON writer spaces and escapes: the two habits of the providers' SDKs."""

import json
from collections.abc import Callable

type JsonWriter = Callable[[object], bytes]


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def spaced(value: object) -> bytes:
    """As older SDKs write it; the only one of the two that can carry a lone surrogate."""
    return json.dumps(value).encode()
