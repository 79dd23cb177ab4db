"""Which attempt an SDK's own retry repeats.

The SDKs say that a request is a retry, but not of which: a failed attempt is remembered by its
account and its body, which a retry sends again as it was.
"""

import threading
from collections import OrderedDict
from typing import Any, Final

_COUNT: Final = "x-stainless-retry-count"
_REMEMBERED: Final = 256


class Retries:
    """The last failed attempts. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failed: OrderedDict[tuple[str, int], str] = OrderedDict()

    def failed(self, exchange_id: str, *, account: str, body: bytes) -> None:
        with self._lock:
            self._failed[account, hash(body)] = exchange_id
            if len(self._failed) > _REMEMBERED:
                self._failed.popitem(last=False)

    def repeated(self, headers: Any, *, account: str, body: bytes) -> str:
        """Return the exchange that the request of these headers tries again, or nothing."""
        if headers.get(_COUNT, "0") == "0":
            return ""
        with self._lock:
            return self._failed.pop((account, hash(body)), "")
