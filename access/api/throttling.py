"""So many requests a minute for each key: its own number, counted in the cache that all processes share."""

from time import monotonic
from typing import Any, Final

import structlog
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from access.models import ApiKey

_A_MINUTE: Final = 60
# A cache that does not answer costs a request its time-out, so it is left alone for so many seconds.
_PAUSE: Final = 5.0
_log = structlog.get_logger(__name__)


class KeyThrottle(SimpleRateThrottle):
    """A window of one minute that begins with the clock's.

    A counter and not a list of moments, which at thousands of requests a minute would be
    read and written with each of them. While the cache is away nothing is counted and nobody is
    refused: a limit is not worth an outage.
    """

    scope = "key"
    cache_format = "api-rate:%(ident)s:%(window)s"
    asks_again_at = 0.0

    def __init__(self) -> None:
        """Each key brings its rate, so there is none to read from the settings."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, ApiKey):
            return True
        now = self.timer()
        self.window = int(now // _A_MINUTE)
        self.left = (self.window + 1) * _A_MINUTE - now
        self.key: Any = self.cache_format % {"ident": request.auth.pk, "window": self.window}
        count = self._count()
        return count is None or count <= request.auth.requests_per_minute

    def wait(self) -> float:
        return self.left

    def _count(self) -> int | None:
        """Count this request; None where it cannot be counted."""
        if monotonic() < KeyThrottle.asks_again_at:
            return None
        try:
            self.cache.add(self.key, 0, timeout=2 * _A_MINUTE)
            return int(self.cache.incr(self.key))
        except ValueError:
            # It went between the two calls: a new minute has begun.
            return None
        except (RedisError, OSError) as error:
            KeyThrottle.asks_again_at = monotonic() + _PAUSE
            _log.warning("requests_not_counted", error=type(error).__name__, pause_seconds=_PAUSE)
            return None
