"""So many requests a minute for each key: its own number, counted in the cache that all processes share."""

from typing import Any, Final

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from access.models import ApiKey

_A_MINUTE: Final = 60


class KeyThrottle(SimpleRateThrottle):
    """A window of one minute that begins with its first request.

    A counter and not a list of moments, which at thousands of requests a minute would be
    read and written with each of them.
    """

    scope = "key"
    cache_format = "api-rate:%(ident)s:%(window)s"

    def __init__(self) -> None:
        """Each key brings its rate, so there is none to read from the settings."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, ApiKey):
            return True
        now = self.timer()
        self.window = int(now // _A_MINUTE)
        self.left = (self.window + 1) * _A_MINUTE - now
        self.key: Any = self.cache_format % {"ident": request.auth.pk, "window": self.window}
        self.cache.add(self.key, 0, timeout=2 * _A_MINUTE)
        try:
            count = self.cache.incr(self.key)
        except ValueError:
            # It went between the two calls: a new minute has begun.
            return True
        return count <= request.auth.requests_per_minute

    def wait(self) -> float:
        return self.left
