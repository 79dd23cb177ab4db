"""Speaking to the store: one exchange is sent, and its answer says what is to become of it."""

import logging
from dataclasses import dataclass
from typing import Final

import httpx2

from counterfoil_recorder.connecting import connect
from counterfoil_recorder.exchanges import Parcel, to_multipart
from counterfoil_recorder.waits import asked_for

log = logging.getLogger(__name__)
_EXCHANGES: Final = "/api/v1/exchanges"
_KEY: Final = "/api/v1/key"
# The store has looked at the exchange and will never take it; sent again, it would say the same.
_REFUSALS: Final = frozenset({400, 404, 409, 413, 415, 422})
_TOO_LARGE: Final = 413
_PROBLEM: Final = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Stored:
    was_known: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """`rule` is the store's code of the reason; of an erased person nothing may be kept anywhere."""

    rule: str
    reason: str

    @property
    def must_vanish(self) -> bool:
        return self.rule == "erased-subject"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Not now. `wait` is how many seconds the store asks for."""

    reason: str
    wait: float | None = None


Answer = Stored | Refused | Unavailable


class Store:
    """Safe for several threads."""

    def __init__(self, *, url: str, key: str, timeout: float) -> None:
        self._timeout = timeout
        self._client = connect(url=url, key=key, timeout=timeout, agent="counterfoil-recorder", most=4)

    def send(self, parcel: Parcel) -> Answer:
        media_type, body = to_multipart(parcel)
        try:
            response = self._client.post(_EXCHANGES, content=body, headers={"Content-Type": media_type})
        except (httpx2.HTTPError, OSError) as error:
            return Unavailable(f"{type(error).__name__}: {error}")
        return read_answer(response)

    def is_up(self, *, timeout: float | None = None) -> bool:
        """Ask whether the store answers and knows the key."""
        try:
            return self._client.get(_KEY, timeout=timeout or self._timeout).is_success
        except (httpx2.HTTPError, OSError):
            return False

    def close(self) -> None:
        self._client.close()


def read_answer(response: httpx2.Response) -> Answer:
    status = response.status_code
    if response.is_success:
        if not _says_where_it_stands(response):
            # A sign-in page in front of the store says 200 too.
            return Unavailable(f"{status}, but not by the store")
        return Stored(was_known=status == httpx2.codes.OK)
    rule, detail = _problem(response)
    # Without a rule it is not the store that speaks: a wrong address, a proxy, a host name that is not
    # allowed yet, which somebody will mend. What is too large for a proxy stays so.
    is_the_stores = status in _REFUSALS and rule not in ("", "no-such-address")
    if is_the_stores or status == _TOO_LARGE:
        return Refused(rule=rule or str(status), reason=f"{status} {rule}: {detail}")
    return Unavailable(f"{status} {rule}".strip(), wait=asked_for(response.headers))


def _says_where_it_stands(response: httpx2.Response) -> bool:
    try:
        return "exchange_id" in response.json()
    except (ValueError, TypeError):
        return False


def _problem(response: httpx2.Response) -> tuple[str, str]:
    """Return the rule and the explanation of the store's refusal; nothing where another server speaks."""
    if not response.headers.get("content-type", "").startswith(_PROBLEM):
        return "", response.reason_phrase
    try:
        problem = response.json()
        return str(problem.get("rule", "")), str(problem.get("detail", ""))
    except (ValueError, AttributeError):
        return "", response.reason_phrase
